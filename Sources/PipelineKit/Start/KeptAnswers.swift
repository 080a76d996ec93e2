import JSONPath
package import PipelineCore

/// The responses that accepted submits of a job and lacked what its document captures, as they were recorded: the service has
/// what was submitted, and another document may find its id.
package struct KeptAnswers: Sendable {
    private let answers: [StepKey: ServiceResponse]

    /// - Parameter exchanges: of the job, in their order.
    package init(of job: JobSnapshot, in exchanges: [ExchangeRecord]) {
        let own = SourceText(name: job.record.sourceName, text: job.record.source)
        answers = job.steps.reduce(into: [:]) { found, entry in
            let (key, step) = entry
            guard case .unknown = step.state, let stage = Self.stage(key.stage, of: own),
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

    /// The steps whose submits they accepted.
    package var steps: [StepKey] { answers.keys.sorted() }

    /// Returns the captures that a document's submits take out of them, by step; of a step whose captures are not all there
    /// nothing. What is secret is not taken from a record, nor what stands there for something secret.
    package func captures(by document: SourceText) -> [StepKey: JSONObject] {
        answers.reduce(into: [:]) { found, entry in
            guard let stage = Self.stage(entry.key.stage, of: document) else { return }
            var errors: [SelectorError] = []
            let captures = CaptureSet(
                Self.captures(of: stage).flatMap { CaptureSet.parse($0, in: document, errors: &errors).entries })
            guard errors.isEmpty, !captures.isEmpty, captures.secrets.isEmpty,
                let values = try? captures.values(in: entry.value), !JSON.object(values).text.contains("‹")
            else { return }
            found[entry.key] = values
        }
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
