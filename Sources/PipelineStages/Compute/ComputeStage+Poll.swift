import JSONPath
import PipelineCore
import PipelineHTTP

extension ComputeStage {
    /// One round of polls: the first that finds the job decides.
    func watch(_ saved: ComputeCheckpoint, in context: Context) async throws(StageFailure) -> Outcome {
        var checkpoint = saved
        let isOverdue = context.facts.deadline.map { context.now >= $0 } ?? false
        for (position, definition) in polls.enumerated() {
            let poll = try await definition.settled(in: context)
            let rendered = try await requests.render(poll.request, in: context, role: "poll")
            let finding = try await ask(poll, rendered, in: context)
            switch finding {
            case .missing(let failure):
                if position + 1 == polls.count { throw .definite(failure) }
            case .failed(let failure): throw .definite(failure)
            case .succeeded(let answer):
                return .finished(try captures(of: poll, answer, rendered, in: context))
            case .running(let report):
                if isOverdue { try await overdue(in: context) }
                checkpoint.polls += 1
                checkpoint.failures = 0
                context.report(.remote(share: report.share, secondsLeft: report.secondsLeft))
                return try await waiting(
                    checkpoint, words: report.words, floor: report.floor,
                    detail: report.message.map(context.redact), in: context)
            case .failedPoll(let detail, let floor):
                if isOverdue { try await overdue(in: context) }
                checkpoint.failures += 1
                return try await waiting(
                    checkpoint, floor: floor, detail: "the last poll failed: \(detail)", in: context)
            }
        }
        throw .definite(StepFailure("there is no poll", place: context.facts.place))
    }

    private func ask(
        _ poll: PollDefinition, _ rendered: RenderedRequest, in context: Context
    ) async throws(StageFailure) -> PollFinding {
        switch await requests.send(rendered, in: context) {
        case .success(let response):
            context.pass(.pollAnswered)
            return try await judge(response, poll, rendered, in: context)
        case .failure(let failure):
            let lost = try unanswered(failure, rendered, in: context)
            return lost.isDefinite ? .failed(lost.failure) : .failedPoll(detail: lost.failure.title, floor: nil)
        }
    }

    /// No answer says nothing about the job; only a request that can't be sent at all ends the stage.
    func unanswered(
        _ failure: ExchangeFailure, _ rendered: RenderedRequest, in context: Context
    ) throws(StageFailure) -> LostPoll {
        guard case .failed(let failed) = requests.failure(failure, of: rendered, in: context) else { throw .stopped }
        switch failure.reason {
        case .invalidRequest, .tokenRefused, .localRead, .localWrite, .sourceChanged, .bodyTooLarge, .tls(.localFile):
            return LostPoll(failure: failed.failure, isDefinite: true)
        default: return LostPoll(failure: failed.failure, isDefinite: false)
        }
    }

    /// The answer to the submit as the first poll: its captures when it says that the job has succeeded.
    func firstPoll(_ receipt: SubmitReceipt, in context: Context) async throws(StageFailure) -> JSONObject? {
        guard let submit else { return nil }
        let rendered = RenderedRequest(sent: submit, to: receipt.answer.url)
        for definition in polls {
            let poll = try await definition.settled(in: context)
            if let until = poll.until, (try? await requests.holds(until, receipt.answer, in: context)) == true {
                return try captures(of: poll, receipt.answer, rendered, in: context)
            }
            guard let status = poll.status?.lenientValue(in: receipt.answer) else { continue }
            switch poll.lists.meaning(of: status) {
            case .succeeded: return try captures(of: poll, receipt.answer, rendered, in: context)
            case .failed, .cancelled:
                throw .definite(jobFailure(poll, status, receipt.answer, rendered, in: context))
            case .running, nil: continue
            }
        }
        return nil
    }

    private func captures(
        of poll: PollDefinition, _ answer: Answer, _ rendered: RenderedRequest, in context: Context
    ) throws(StageFailure) -> JSONObject {
        let all = CaptureSet(poll.request.capture.entries + capture.entries)
        return try requests.captures(all, from: answer, of: rendered, in: context)
    }
}
