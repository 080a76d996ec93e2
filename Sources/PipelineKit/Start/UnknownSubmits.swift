import JSONPath
package import PipelineCore

/// The submits of a job that are unknown, and what another document may make of them: out of a response that accepted one, as
/// it was recorded, it may take an id that the job's own did not find; or it says how to look for one.
package struct UnknownSubmits: Sendable {
    /// The steps whose submits are unknown.
    private let steps: Set<StepKey>
    /// The job's document.
    private let own: SourceText
    private let responses: [StepKey: ServiceResponse]

    /// - Parameter exchanges: of the job, in their order.
    package init(of job: JobSnapshot, in exchanges: [ExchangeRecord]) {
        let own = SourceText(name: job.record.sourceName, text: job.record.source)
        let unknown = job.steps.filter { $0.value.state.name == .unknown }
        (self.own, steps) = (own, Set(unknown.keys))
        responses = unknown.reduce(into: [:]) { found, entry in
            let (key, step) = entry
            guard let stage = Self.stage(key.stage, of: own),
                !Self.captures(of: stage).isEmpty, let last = exchanges.last(where: { $0.step == key }),
                // One of an earlier submit says nothing of the last.
                last.role == nil, last.attempt == step.attempts, let sent = job.submits[key]?.lastSent,
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

    /// The steps whose submits the job's own document says how to look for.
    package var lookedUp: [StepKey] { steps.filter { Self.hasLookUp($0.stage, in: own) }.sorted() }

    /// True if there are some, and for all of them there is something that another document may do otherwise.
    package var mayBeSettled: Bool { !steps.isEmpty && steps == Set(accepted + lookedUp) }

    /// Returns how a document settles them: its captures are taken out of the response that was kept, or else the submit is
    /// looked for once more as it says. Of a step for which it has neither nothing. What is secret is not taken from a record,
    /// nor what stands there for something secret.
    package func resolutions(by document: SourceText) -> [StepKey: Resolution] {
        var resolutions: [StepKey: Resolution] = [:]
        for key in lookedUp where Self.hasLookUp(key.stage, in: document) { resolutions[key] = .lookUp }
        for (key, response) in responses {
            guard let stage = Self.stage(key.stage, of: document) else { continue }
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
    package func areSettled(by resolutions: [StepKey: Resolution]) -> Bool {
        steps.allSatisfy { resolutions[$0] != nil }
    }

    private static func hasLookUp(_ id: String, in document: SourceText) -> Bool {
        guard let stage = stage(id, of: document) else { return false }
        let once = ["submit", "request"].lazy.compactMap { stage[$0]?["once"] }.first
        return once?["name"] != nil || once?["match"] != nil
    }

    private static func stage(_ id: String, of document: SourceText) -> JSONNode? {
        let node = JSONNode.read(document).node
        for list in ["stages", "finally"] {
            guard case .array(let stages)? = node?[list]?.content else { continue }
            if let found = stages.first(where: { $0["id"]?.json.string == id }) { return found }
        }
        return nil
    }

    /// The captures of a stage that come from its submit's response; none of a request whose response is its result besides.
    private static func captures(of stage: JSONNode) -> [JSONNode] {
        guard stage["kind"]?.json.string == "request" else { return [stage["submit"]?["capture"]].compactMap(\.self) }
        if stage["to"] != nil || stage["paginate"] != nil { return [] }
        return [stage["request"]?["capture"], stage["capture"]].compactMap(\.self)
    }
}
