import JSONPath
import PipelineCore
import PipelineHTTP

/// What asking the URL that a 202 named brought to light.
private enum MonitorFinding: Sendable {
    case running(Answer, floor: Duration?)
    case ended(Answer)
    /// The request failed, which says nothing about the job.
    case failedPoll(detail: String, floor: Duration?)
    case failed(StepFailure)
}

extension ComputeStage {
    /// Without `poll`: asks the URL that a 202 or 303 named. 202 is running, any other 2xx, also one that a 303 leads
    /// to, is the result (RFC 9110, section 15.3.3).
    func watchMonitor(_ saved: ComputeCheckpoint, in context: Context) async throws(StageFailure) -> Outcome {
        var checkpoint = saved
        guard let monitor = checkpoint.monitor, !checkpoint.isEnded else { return .finished([:]) }
        let isOverdue = context.facts.deadline.map { context.now >= $0 } ?? false
        let rendered = try await requests.render(RequestDefinition(captured: monitor), in: context, role: "poll")
        switch try await ask(rendered, in: context) {
        case .ended(let answer):
            return .finished(try requests.captures(capture, from: answer, of: rendered, in: context))
        case .running(let answer, let floor):
            if isOverdue { try await overdue(in: context) }
            checkpoint.monitor = Self.monitor(of: answer) ?? monitor
            checkpoint.polls += 1
            checkpoint.failures = 0
            return try await waiting(checkpoint, floor: floor, detail: nil, in: context)
        case .failedPoll(let detail, let floor):
            if isOverdue { try await overdue(in: context) }
            checkpoint.failures += 1
            return try await waiting(
                checkpoint, floor: floor, detail: "the last poll failed: \(detail)", in: context)
        case .failed(let failure): throw .definite(failure)
        }
    }

    private func ask(_ rendered: RenderedRequest, in context: Context) async throws(StageFailure) -> MonitorFinding {
        let response: HTTPExchangeResponse
        switch await requests.send(rendered, in: context) {
        case .success(let answered): response = answered
        case .failure(let failure):
            let lost = try unanswered(failure, rendered, in: context)
            return lost.isDefinite ? .failed(lost.failure) : .failedPoll(detail: lost.failure.title, floor: nil)
        }
        context.pass(.pollAnswered)
        let answer = requests.answer(of: response)
        let floor = response.retryAfter(now: context.now)
        switch try await requests.verdict(on: answer, of: rendered, in: context) {
        case .expected: return answer.status == 202 ? .running(answer, floor: floor) : .ended(answer)
        case .unexpected(let failure) where Self.isTransient(response.status):
            return .failedPoll(detail: failure.title, floor: floor)
        case .unexpected(let failure)
        where await requests.hasNewCredentials(for: response.status, of: rendered, in: context):
            return .failedPoll(detail: failure.title, floor: floor)
        case .unexpected(let failure), .ruledOut(let failure, _): return .failed(failure)
        }
    }
}
