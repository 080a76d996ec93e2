import JSONPath
import PipelineCore
import PipelineHTTP

extension ComputeStage {
    /// One round of polls: the first that finds the job decides.
    func watch(_ saved: ComputeCheckpoint, in context: Context) async throws(StageFailure) -> Outcome {
        var checkpoint = saved
        for (position, definition) in polls.enumerated() {
            let poll = try await definition.settled(in: context)
            let rendered = try await requests.render(poll.request, in: context, role: "poll")
            if poll.events == nil, let list = poll.list,
                let finding = try await ListPoll(stage: self, list: list, context: context).look(
                    for: poll, rendered, checkpoint)
            {
                poll.noteEnd(finding, of: requests.label, in: context)
                return try await outcome(of: finding, taking: captures(of: poll), rendered, checkpoint, in: context)
            }
            let finding: PollFinding
            let deadline = PollDeadline(in: context)
            if let events = poll.events {
                let stream = StreamPoll(stage: self, poll: poll, events: events, context: context)
                finding = try await stream.follow(rendered, &checkpoint)
            } else {
                finding = try await ask(rendered, in: context) { response async throws(StageFailure) in
                    try await judge(response, poll, rendered, in: context)
                }
            }
            if let again = deadline.pollAgain(after: finding, checkpoint) { return again }
            poll.noteEnd(finding, of: requests.label, in: context)
            if case .missing(let failure) = finding {
                if position + 1 < polls.count { continue }
                if try await isSettling(poll, checkpoint, in: context) {
                    return try await outcome(
                        of: .running(PollReport(unknownYet: failure)), taking: CaptureSet(), rendered, checkpoint,
                        in: context)
                }
            }
            return try await outcome(
                of: finding, taking: captures(of: poll), rendered, checkpoint,
                reopensAfter: poll.events.map { _ in checkpoint.stream?.reconnection ?? .zero }, in: context)
        }
        throw .definite(StepFailure("there is no poll", place: context.facts.place))
    }

    /// Returns whether a service that is eventually consistent may not know the job yet.
    private func isSettling(
        _ poll: PollDefinition, _ checkpoint: ComputeCheckpoint, in context: Context
    ) async throws(StageFailure) -> Bool {
        context.now < checkpoint.begin(of: context.facts) + (try await context.value(of: poll.settle))
    }

    /// Returns what a poll's finding makes of the stage; `captures` are taken from an answer that ends it.
    ///
    /// - Parameter pause: of a stream that broke, how long until it is opened again.
    func outcome(
        of finding: PollFinding, taking captures: CaptureSet, _ rendered: RenderedRequest, _ saved: ComputeCheckpoint,
        reopensAfter pause: Duration? = nil, in context: Context
    ) async throws(StageFailure) -> Outcome {
        var checkpoint = saved
        let deadline = PollDeadline(in: context)
        switch finding {
        case .missing(let failure): throw .remoteJobEnded(failure)
        case .ended(let failure, let answer):
            context.conclude(with: answer)
            throw .remoteJobEnded(failure)
        // A job that may still run is asked for again by the next attempt, not begun a second time.
        case .refused(let failure): throw .definite(failure)
        case .succeeded(let answer):
            context.noteServed()
            let ended = try captures.lastValues(in: answer, of: rendered, by: requests, in: context)
            return .finished(try await callback?.completed(ended, in: context) ?? ended)
        case .running(let report):
            try await deadline.enforce(on: self)
            try await PollDoubt.tell(report.doubts, &checkpoint, in: context)
            checkpoint.polls += 1
            checkpoint.failures = 0
            checkpoint.monitor = report.monitor ?? checkpoint.monitor
            try await carried.keep(report.captures, checkpoint, in: context)
            let begin = checkpoint.begin(of: context.facts)
            context.report(.remote(share: report.share, secondsLeft: report.secondsLeft, since: begin))
            let trouble = report.doubts.first(where: \.isTrouble)?.message
            return try await waiting(
                checkpoint, words: report.words, floor: report.floor, reopensAfter: pause,
                detail: trouble ?? report.message.map { ShownText.excerpt($0, in: context) },
                isTrouble: trouble != nil, in: context)
        case .failedPoll(let detail, let floor):
            try await deadline.enforce(on: self)
            checkpoint.failures += 1
            return try await waiting(
                checkpoint, floor: floor, reopensAfter: pause, detail: "the last poll failed: \(detail)",
                isTrouble: true, in: context)
        }
    }

    /// Sends a poll; what an answer means `judge` says.
    func ask(
        _ rendered: RenderedRequest, in context: Context,
        judge: (HTTPExchangeResponse) async throws(StageFailure) -> PollFinding
    ) async throws(StageFailure) -> PollFinding {
        let result = await requests.send(rendered, in: context) { PollDeadline(in: context).limit(&$0) }
        switch result {
        case .success(let response):
            context.pass(.pollAnswered)
            return try await judge(response)
        case .failure(let failure):
            // What is held back costs no poll.
            if case .held = failure.reason { throw requests.failure(failure, of: rendered, in: context) }
            let lost = try LostPoll(failure, of: rendered, by: requests, in: context)
            return lost.isDefinite ? .refused(lost.failure) : .failedPoll(detail: lost.failure.title, floor: lost.floor)
        }
    }

    func captures(of poll: PollDefinition) -> CaptureSet {
        CaptureSet(poll.request.capture.entries + capture.entries)
    }
}
