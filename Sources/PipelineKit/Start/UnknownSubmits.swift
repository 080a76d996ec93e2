import JSONPath
package import PipelineCore

/// The submits of a job that are unknown, and what another document may make of them: out of a response that accepted one, as
/// it was recorded, it may take an id that the job's own did not find; or it says how to look for one.
package struct UnknownSubmits: Sendable {
    /// The steps whose submits are unknown.
    private let steps: Set<StepKey>
    private let responses: [StepKey: ServiceResponse]
    /// The steps whose submits the job's own document says how to look for.
    package let lookedUp: Set<StepKey>

    /// - Parameter exchanges: of the job, in their order.
    package init(of job: JobSnapshot, in exchanges: [ExchangeRecord]) {
        let unknown = job.steps.filter { $0.value.state.name == .unknown }
        steps = Set(unknown.keys)
        let own = SourceText(name: job.record.sourceName, text: job.record.source)
        let stages = unknown.isEmpty ? [:] : Self.stages(of: own)
        lookedUp = steps.filter { stages[$0.stage].map(Self.hasLookUp) == true }
        responses = unknown.reduce(into: [:]) { found, entry in
            let (key, step) = entry
            guard let stage = stages[key.stage],
                !Self.captures(of: stage).isEmpty,
                let last = exchanges.last(where: { $0.step == key && $0.role == nil }),
                // One of an earlier submit says nothing of the last.
                last.attempt == step.attempts, let sent = job.submits[key]?.lastSent,
                last.started >= sent,
                let answer = last.answer, 200..<300 ~= answer.status, answer.body.isWhole, let text = answer.body.text
            else { return }
            found[key] = ServiceResponse(
                status: answer.status, headers: answer.headers.map { ($0.name, $0.value) }, url: last.url,
                body: Array(text.utf8))
        }
    }

    /// The steps whose submits were accepted by a response that was kept.
    package var accepted: [StepKey] { responses.keys.sorted() }

    /// True if there are some, and for all of them there is something that another document may do otherwise.
    package var mayBeReconciled: Bool { !steps.isEmpty && steps == lookedUp.union(accepted) }

    /// Returns how a document reconciles them: its captures are taken out of the response that was kept, or else the submit is
    /// looked for once more as it says. Of a step for which it has neither nothing. What is secret is not taken from a record,
    /// nor what stands there for something secret.
    package func resolutions(by document: SourceText) -> [StepKey: Resolution] {
        if steps.isEmpty { return [:] }
        let stages = Self.stages(of: document)
        var resolutions: [StepKey: Resolution] = [:]
        for key in lookedUp where stages[key.stage].map(Self.hasLookUp) == true { resolutions[key] = .lookUp }
        for (key, response) in responses {
            guard let stage = stages[key.stage] else { continue }
            var errors: [SelectorError] = []
            let captures = CaptureSet(
                Self.captures(of: stage).flatMap { CaptureSet.parse($0, in: document, errors: &errors).entries })
            guard errors.isEmpty, !captures.isEmpty, captures.secrets.isEmpty,
                let values = try? captures.values(in: response), !JSON.object(values).text.contains("‹")
            else { continue }
            resolutions[key] = .found(values)
        }
        return resolutions
    }

    /// Returns whether the resolutions leave none of them unknown.
    package func areReconciled(by resolutions: [StepKey: Resolution]) -> Bool {
        steps.allSatisfy { resolutions[$0] != nil }
    }

    private static func hasLookUp(_ stage: JSONNode) -> Bool { stage.json.object.map(hasLookUp) == true }

    /// Returns whether a stage says how its submit is looked for.
    static func hasLookUp(_ stage: JSONObject) -> Bool {
        ["submit", "request"].contains { name in
            let once = stage[name]?["once"]
            return once?["name"] != nil || once?["match"] != nil
        }
    }

    /// The stages of a document, by their ids.
    private static func stages(of document: SourceText) -> [String: JSONNode] {
        let node = JSONNode.read(document).node
        return ["stages", "finally"].reduce(into: [:]) { found, list in
            guard case .array(let stages)? = node?[list]?.content else { return }
            for stage in stages {
                if let id = stage["id"]?.json.string, found[id] == nil { found[id] = stage }
            }
        }
    }

    /// The captures of a stage that come from its submit's response; none of a request whose response is its result besides.
    private static func captures(of stage: JSONNode) -> [JSONNode] {
        guard stage["kind"]?.json.string == "request" else { return [stage["submit"]?["capture"]].compactMap(\.self) }
        if stage["to"] != nil || stage["paginate"] != nil { return [] }
        return [stage["request"]?["capture"], stage["capture"]].compactMap(\.self)
    }
}
