import JSONPath
package import PipelineCore

/// The responses that accepted submits of a job and lacked what its document captures, as they were recorded: the service has
/// what was submitted, and another document may find its id.
package struct KeptAnswers: Sendable {
    private let answers: [StepKey: ServiceResponse]

    /// - Parameter exchanges: of the job, in their order.
    package init(of job: JobSnapshot, in exchanges: [ExchangeRecord]) {
        answers = job.steps.reduce(into: [:]) { found, entry in
            let (key, step) = entry
            guard case .unknown = step.state, let last = exchanges.last(where: { $0.step == key }), last.role == nil,
                let answer = last.answer, 200..<300 ~= answer.status, answer.body.isWhole, let text = answer.body.text
            else { return }
            found[key] = ServiceResponse(
                status: answer.status, headers: answer.headers.map { ($0.name, $0.value) }, url: last.url,
                body: Array(text.utf8))
        }
    }

    package var isEmpty: Bool { answers.isEmpty }
    /// The steps whose submits they accepted.
    var steps: [StepKey] { answers.keys.sorted() }
    package func has(_ key: StepKey) -> Bool { answers[key] != nil }

    /// Returns the captures that a document's submits take out of them, by step; of a step whose captures are not all there
    /// nothing. What is secret is not taken from a record.
    package func captures(by document: SourceText) -> [StepKey: JSONObject] {
        guard case .array(let stages)? = JSONNode.read(document).node?["stages"]?.content else { return [:] }
        return answers.reduce(into: [:]) { found, entry in
            let stage = stages.first { $0["id"]?.json.string == entry.key.stage }
            guard let wanted = stage?["submit"]?["capture"] else { return }
            var errors: [SelectorError] = []
            let captures = CaptureSet.parse(wanted, in: document, errors: &errors)
            guard errors.isEmpty, !captures.isEmpty, captures.secrets.isEmpty,
                let values = try? captures.values(in: entry.value), !JSON.object(values).text.contains("‹secret:")
            else { return }
            found[entry.key] = values
        }
    }
}
