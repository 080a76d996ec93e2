import JSONPath
import PipelineCore
import PipelineHTTP

/// The conditions by which a poll judges an answer, `missing`, `failWhen` and `until`.
struct PollRules {
    let stage: ComputeStage
    let poll: PollDefinition
    let rendered: RenderedRequest
    let context: ComputeStage.Context
    /// True if a condition that can't be put to an answer says nothing.
    var isTolerant = false

    /// Returns whether an answer says that there is no such job.
    func findMissing(in answer: ServiceResponse) async throws(StageFailure) -> Bool {
        guard let missing = poll.missing else { return answer.status == 404 || answer.status == 410 }
        guard missing.mayFindMissing(in: answer) else { return false }
        return try await holds(missing, answer)
    }

    /// `failWhen` and `until`; nil when neither holds. Answers with an unexpected status are put only to those that
    /// look at the status: an error page has none of the members that the others ask for.
    func finding(
        on answer: ServiceResponse, onlyByStatus: Bool = false
    ) async throws(StageFailure) -> PollFinding? {
        if let failWhen = poll.failWhen, !onlyByStatus || failWhen.readsStatus, try await holds(failWhen, answer) {
            return .ended(stage.jobFailure(poll, nil, answer, rendered, in: context), answer)
        }
        if let until = poll.until, !onlyByStatus || until.readsStatus, try await holds(until, answer) {
            return .succeeded(answer)
        }
        return nil
    }

    /// Returns whether an answer says that the job has ended, by `until` or `status`, whatever else it says.
    func findEnd(in answer: ServiceResponse) async throws(StageFailure) -> Bool {
        guard try await stage.requests.isExpected(answer, of: rendered, in: context) else { return false }
        if let until = poll.until, (try? await stage.requests.holds(until, answer, in: context)) == true { return true }
        guard let status = poll.status?.lenientValue(in: answer) else { return false }
        switch poll.lists.meaning(of: status) {
        case .succeeded, .failed, .cancelled: return true
        case .running, nil: return false
        }
    }

    private func holds(_ condition: Expression, _ answer: ServiceResponse) async throws(StageFailure) -> Bool {
        try await stage.requests.holdsLeniently(condition, answer, of: rendered, isTolerant: isTolerant, in: context)
    }
}

extension Expression {
    /// True if it looks at the status of the answer and at nothing else.
    fileprivate var readsStatusAlone: Bool {
        !references.isEmpty && references.allSatisfy { $0.root == .response("status") }
    }
}

extension PollDefinition {
    /// The definition without rules that look at nothing but the status of a response. A response that accepts a job has
    /// the status of a success, which says nothing of the job's end.
    var withoutStatusAlone: PollDefinition {
        var poll = self
        if until?.readsStatusAlone == true { poll.until = nil }
        if status?.text == "status" { poll.status = nil }
        return poll
    }
}
