import JSONPath

/// Checks that every reference of a document leads somewhere and may stand where it stands.
struct ReferenceCheck {
    let definition: PipelineDefinition
    let drafts: [StageDraft]
    let findings: Findings

    func run(documentUses: [ReferenceUse]) {
        for use in documentUses { check(use, in: nil) }
        for draft in drafts {
            for use in draft.uses { check(use, in: draft) }
            checkNeeds(of: draft)
        }
    }

    private func checkNeeds(of draft: StageDraft) {
        let ids = drafts.map(\.definition.id)
        for (index, id) in (draft.options?.needs ?? []).enumerated() where !ids.contains(id) || id == draft.definition.id {
            guard let list = draft.options?.needsPlace, let elements = list.elements, index < elements.count else { continue }
            let guess = Suggestion.nearest(to: id, among: ids)
            findings.report(
                elements[index], id == draft.definition.id ? "a stage cannot need itself" : "there is no stage called '\(id)'",
                hint: guess.map { "did you mean '\($0)'?" } ?? "stages here: " + ids.joined(separator: ", "))
        }
    }

    private func check(_ use: ReferenceUse, in draft: StageDraft?) {
        switch use.reference.root {
        case .input(let name):
            known(name, among: definition.inputs.map(\.name), noun: "input", use)
        case .capture(let stage, let name): checkCapture(stage, name, use)
        case .own(let name):
            guard allowed(.own, "self", use), let draft, let name else { return }
            known(name, among: draft.captures.map(\.name), noun: "capture of this stage", use)
        case .ownKey, .callbackURL, .ownParts: _ = allowed(.own, "self", use)
        case .item, .index:
            if !use.roots.contains(.item) {
                report(use, "'item' and 'index' exist only in a stage with forEach", hint: nil)
            }
        case .response: _ = allowed(.response, "response", use)
        case .part: _ = allowed(.part, "part", use)
        case .job: _ = allowed(.job, "job", use)
        case .environment, .secret: break
        }
    }

    private func checkCapture(_ stage: String, _ name: String?, _ use: ReferenceUse) {
        guard allowed(.stages, "stages", use) else { return }
        let ids = drafts.map(\.definition.id)
        guard let source = drafts.first(where: { $0.definition.id == stage }) else {
            return known(stage, among: ids, noun: "stage", use)
        }
        // A kind that could not be read has no known captures: its own mistake is told already.
        guard source.stage != nil, let name else { return }
        known(name, among: source.captures.map(\.name), noun: "capture of stage '\(stage)'", use)
    }

    private func allowed(_ root: AllowedRoots, _ name: String, _ use: ReferenceUse) -> Bool {
        if use.roots.contains(root) { return true }
        report(use, "'\(name)' has no value here", hint: "it is known only \(Self.whereKnown(root))")
        return false
    }

    private static func whereKnown(_ root: AllowedRoots) -> String {
        switch root {
        case .response: "where an answer is judged"
        case .own: "inside a stage"
        case .stages: "inside stages"
        case .part: "in the 'part' request of an upload"
        default: "inside stages and services"
        }
    }

    private func known(_ name: String, among names: [String], noun: String, _ use: ReferenceUse) {
        if names.contains(name) { return }
        let guess = Suggestion.nearest(to: name, among: names)
        report(
            use, "there is no \(noun) called '\(name)'",
            hint: guess.map { "did you mean '\($0)'?" }
                ?? (names.isEmpty ? nil : "there are: " + names.joined(separator: ", ")))
    }

    private func report(_ use: ReferenceUse, _ message: String, hint: String?) {
        findings.report(range: use.reference.range, pointer: use.place.pointer, message, hint: hint)
    }
}
