package import JSONPath
package import PipelineCore

/// The actions of a run of a document, as far as that is known before it begins.
package struct PlanPreview: Sendable {
    /// One stage of the plan.
    package struct Stage: Sendable {
        package let planned: PlannedStage
        /// Its requests, and how a lost submit would be settled.
        package let preview: StagePreview
        /// The time when its captures expire, in words; nil for never.
        package let expires: String?
    }

    /// SHA-256 of the document, in hex.
    package let digest: String
    /// In the order of the plan, those of `finally` last.
    package let stages: [Stage]

    /// Makes the preview of a document that was read; sends nothing, and looks no secret up.
    package init(_ draft: JobDraft) async {
        digest = draft.digest
        let plan = draft.plan
        let all = plan.stages + plan.finally
        let captures = Dictionary(
            all.map { ($0.id, $0.captures.map(\.name)) }, uniquingKeysWith: { first, _ in first })
        let environment = draft.environment.map { ($0.name, $0.value.string) }
        var known = Scope(
            inputs: draft.shownInputs, env: Dictionary(uniqueKeysWithValues: environment),
            baseFolder: AbsolutePath.folder(of: draft.path))
        for path in draft.files {
            let fact = Fact.size(path)
            if let size = try? await DiskFiles().value(of: fact) { known.facts[fact] = size }
        }
        var stages: [Stage] = []
        var scope = PreviewScope(known: known, secrets: plan.secrets, captures: captures)
        for stage in all {
            scope.show(captures[stage.id] ?? [])
            var preview = await stage.stage.preview(scope)
            let fetched = plan.fetchedInputs[stage.id, default: []]
            preview.requests.insert(contentsOf: fetched.map { Self.fetching($0, known) }, at: 0)
            stages.append(
                Stage(
                    planned: stage, preview: preview,
                    expires: Self.expiry(of: stage, in: plan, known)))
        }
        self.stages = stages
    }

    /// The request that fetches an input before a stage reads it as a file.
    private static func fetching(_ input: String, _ known: Scope) -> RequestPreview {
        RequestPreview(
            purpose: "input \(input)", method: "GET", url: known.inputs[input]?.string ?? "‹inputs.\(input)›")
    }

    /// Returns when a stage's captures expire, and for which stages it is run again then.
    private static func expiry(of stage: PlannedStage, in plan: Plan, _ known: Scope) -> String? {
        guard let text = stage.expires?.describe(in: known) else { return nil }
        let renewing = plan.stages.filter { $0.renews == stage.id }.map { "'\($0.id)'" }
        return renewing.isEmpty ? text : "\(text); then it is run again for \(renewing.joined(separator: " and "))"
    }

    /// The form of `plan --json`. What only a prediction of background work knows is null.
    package var json: JSON {
        let stages = stages.map { stage -> JSON in
            [
                "id": .string(stage.planned.id), "kind": .string(stage.planned.kind),
                "requests": .array(stage.preview.requests.map(\.json)), "once": JSON(stage.preview.once),
                "expires": JSON(stage.expires), "writes": JSON(stage.preview.writes),
                "waits": JSON(stage.preview.waits),
                "resumes": nil, "delay": nil,
            ]
        }
        return ["digest": .string(digest), "stages": .array(stages), "resumes": nil, "delay": nil]
    }
}
