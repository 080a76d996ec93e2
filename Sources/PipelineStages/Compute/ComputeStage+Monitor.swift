import JSONPath
import PipelineCore
import PipelineHTTP

extension ComputeStage {
    /// Without `poll`: asks the URL that a 202 or 303 named. 202 is running, any other 2xx, also one that a 303 leads
    /// to, is the result (RFC 9110, section 15.3.3), but for a page of HTML where something else is to be captured.
    func watchMonitor(_ checkpoint: ComputeCheckpoint, in context: Context) async throws(StageFailure) -> Outcome {
        let monitor: String
        switch checkpoint.endPlace {
        case .here: return .finished([:])
        case .nowhere: throw noPlaceToAsk(after: nil, in: context)
        case .at(let url): monitor = url
        }
        let rendered = try await requests.render(RequestDefinition(captured: monitor), in: context, role: "poll")
        let deadline = PollDeadline(in: context)
        let finding = try await ask(rendered, in: context) { response async throws(StageFailure) in
            try await judgeMonitor(response, rendered, checkpoint, in: context)
        }
        if let again = deadline.pollAgain(after: finding, checkpoint) { return again }
        return try await outcome(of: finding, taking: capture, rendered, checkpoint, in: context)
    }

    private func judgeMonitor(
        _ response: HTTPExchangeResponse, _ rendered: RenderedRequest, _ checkpoint: ComputeCheckpoint,
        in context: Context
    ) async throws(StageFailure) -> PollFinding {
        let answer = requests.answer(of: response)
        let floor = response.retryAfter(now: context.now)
        switch try await requests.verdict(on: answer, of: rendered, in: context) {
        case .expected where answer.status == 202:
            var report = PollReport()
            report.floor = floor
            report.monitor = answer.monitor
            return .running(report)
        // A login that took the place of the job, or of what a redirect leads to: no word of the service's own.
        case .expected where response.isPage && (try? capture.values(in: answer)) == nil:
            return .failedPoll(detail: "a page of HTML came, which has nothing of what is captured", floor: floor)
        case .expected: return .succeeded(answer)
        case .unexpected(let failure) where response.closing != nil:
            throw Self.held(failure, response.closing ?? .zero)
        case .unexpected(let failure) where await saysNothing(response, rendered, in: context):
            return .failedPoll(detail: failure.title, floor: floor)
        case .unexpected(let failure) where [404, 410].contains(answer.status):
            if context.now >= checkpoint.begin(of: context.facts) + PollDefinition.disbelief {
                return .missing(failure)
            }
            return .running(PollReport(unknownYet: failure, floor: floor))
        case .unexpected(let failure), .ruledOut(let failure, _): return .refused(failure)
        }
    }

    /// A job is at the service, and neither that nor the document says where to ask for its end. It stays so at each
    /// resume: the job goes on there, and nobody knows its result.
    ///
    /// - Parameter answer: the answer that accepted it; nil when that came before a restart.
    func noPlaceToAsk(after answer: ServiceResponse?, in context: Context) -> StageFailure {
        let name = requests.name(of: answer?.url ?? "")
        let given = JobPlaceHeaders.names.first { answer?.header($0).isEmpty == false }
            .map { "; it gave \($0), which \"capture\": { \"place\": \"header:\($0)\" } of the submit takes" }
        return .definite(
            StepFailure(
                "\(name) has the job and gave no Location for it, so there is nothing to ask for its end",
                hint: "add \"poll\" to the stage\(given ?? ""); another run begins another job beside this one",
                service: requests.service?.name, status: answer?.status, place: context.facts.place))
    }
}
