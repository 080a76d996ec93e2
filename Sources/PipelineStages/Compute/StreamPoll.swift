import HTTPTypes
import JSONPath
import PipelineCore
import PipelineHTTP

/// A poll whose answer is a stream of server-sent events: reads it until an event ends the job, it breaks, or the deadline
/// has come.
struct StreamPoll {
    typealias Context = ComputeStage.Context

    let stage: ComputeStage
    let poll: PollDefinition
    let events: PollEvents
    let context: Context
    private var requests: StageRequests { stage.requests }

    /// Opens the stream once and reads it.
    ///
    /// The position goes to the journal while the stream is open, at most once in 1.5 s, the last one always: after a crash
    /// some events may come again, and these tell no more than the progress.
    func follow(
        _ rendered: RenderedRequest, _ checkpoint: inout ComputeCheckpoint
    ) async throws(StageFailure) -> PollFinding {
        let start = events.start(after: checkpoint.stream)
        let ticker = ProgressTicker(from: 0, part: .max) { context.now }
        let watch = EventWatch(
            events, from: start, maximumBytes: rendered.options.maximumBodyBytes, ticker: ticker)
        let request = Self.opening(rendered, at: start)
        var state = checkpoint
        var report = PollReport()
        var committed = context.now
        let result = try await ticker.during {
            [requests, context] in
            await requests.send(request, in: context) { Self.adjust(&$0, watch, in: context) }
        } onWakeUp: { () async throws(StageFailure) in
            if let event = watch.takeProgress() {
                report = try await tell(event, of: request, &state)
            }
            let position = watch.position
            // Behind the event that ends the job the stream is never opened again: its meaning is kept, not its place.
            guard watch.end == nil, position != state.stream ?? start else { return }
            let wait = committed + ProgressTicker.interval - context.now
            if wait > .zero { return ticker.signal(in: wait) }
            committed = context.now
            state.stream = position
            try await context.commit(state, captures: report.captures)
        }
        checkpoint = state
        checkpoint.stream = watch.position
        // A stop gives no outcome that would keep it.
        if Task.isCancelled, watch.end == nil, checkpoint.stream != state.stream ?? start {
            try await context.commit(checkpoint, captures: report.captures)
        }
        return try await finding(of: result, watch, report, request, &checkpoint)
    }

    /// Tells the progress of which an event speaks.
    private func tell(
        _ event: ServerSentEvent, of request: RenderedRequest, _ checkpoint: inout ComputeCheckpoint
    ) async throws(StageFailure) -> PollReport {
        let answer = ServiceResponse(status: 200, url: request.description.url, body: event.data)
        var report = PollReport(poll, answer)
        report.captures = stage.carried.values(of: stage.captures(of: poll), in: answer)
        let begin = checkpoint.begin(of: context.facts)
        context.report(.remote(share: report.share, secondsLeft: report.secondsLeft, since: begin))
        let doubts = PollDoubt.doubts(about: poll, answer, isLate: false) {
            ShownText.excerpt($0, limit: 120, in: context)
        }
        try await PollDoubt.tell(doubts, &checkpoint, in: context)
        context.pass(.pollAnswered)
        return report
    }

    /// The request as a stream is asked for (WHATWG HTML, section 9.2.3).
    private static func opening(_ rendered: RenderedRequest, at position: StreamPosition) -> RenderedRequest {
        var request = rendered
        if request.description.headers[.accept] == nil { request.description.headers[.accept] = "text/event-stream" }
        // An id that no header can carry is none.
        if !position.lastID.isEmpty { try? request.description.addHeader("Last-Event-ID", position.lastID) }
        return request
    }

    /// A stream lasts as long as the job: its limit is on silence, not on its length.
    private static func adjust(_ options: inout ExchangeOptions, _ watch: EventWatch, in context: Context) {
        options.receive = watch.sink
        options.idleTimeout = options.totalTimeout ?? options.idleTimeout
        options.stall = nil
        options.totalTimeout = PollDeadline(in: context).timeLimit()
    }

    private func finding(
        of result: Result<HTTPExchangeResponse, ExchangeFailure>, _ watch: EventWatch, _ report: PollReport,
        _ request: RenderedRequest, _ checkpoint: inout ComputeCheckpoint
    ) async throws(StageFailure) -> PollFinding {
        if let event = watch.end {
            context.pass(.pollAnswered)
            let head = (try? result.get()).map { requests.answer(of: $0) }
            let answer = ServiceResponse(
                status: 200, headers: head?.headers ?? [], url: head?.url ?? request.description.url, body: event.data)
            return try await finding(of: event, answer, request)
        }
        switch result {
        case .failure(let failure) where failure.reason == .bodyTooLarge && watch.isStream:
            let bound = SizeText.exact(Int64(request.options.maximumBodyBytes))
            return .refused(
                StepFailure(
                    "\(requests.name(of: request.description.url)) sent an event or a line of more than \(bound)",
                    service: requests.service?.name, request: context.redact(request.line),
                    place: context.facts.place))
        case .failure(let failure):
            let lost = try LostPoll(failure, of: request, by: stage.requests, in: context)
            if lost.isDefinite { return .refused(lost.failure) }
            return watch.count > 0 ? .running(report) : .failedPoll(detail: lost.failure.title, floor: lost.floor)
        case .success(let response) where watch.isStream:
            let floor = response.retryAfter(now: context.now)
            let doubt = watch.passedOver.flatMap { name in
                PollDoubt.lastEvent(name, events) { ShownText.excerpt($0, limit: 60, in: context) }
            }
            try await PollDoubt.tell([doubt].compactMap(\.self), &checkpoint, in: context)
            if watch.count > 0 { return .running(report) }
            return .failedPoll(detail: doubt?.message ?? "the stream ended before any event came", floor: floor)
        case .success(let response):
            context.pass(.pollAnswered)
            let finding = try await stage.judge(response, poll, request, in: context)
            guard case .running = finding else { return finding }
            return try await noStream(response, request, &checkpoint)
        }
    }

    /// Returns what the event means that ends the job; `fail` is judged on it too.
    private func finding(
        of event: ServerSentEvent, _ answer: ServiceResponse, _ request: RenderedRequest
    ) async throws(StageFailure) -> PollFinding {
        if case .ruledOut(let failure, let allowsRetry) = try await requests.verdict(
            on: answer, of: request, in: context)
        {
            return allowsRetry ? .failedPoll(detail: failure.title, floor: nil) : .ended(failure, answer)
        }
        guard events.meanings[event.name] == .succeeded else {
            return .ended(stage.jobFailure(poll, nil, answer, request, in: context), answer)
        }
        return .succeeded(answer)
    }

    /// A good answer that is no stream: 204 says that there will be none (WHATWG HTML, section 9.2.3), anything else may be
    /// a stranger's page.
    private func noStream(
        _ response: HTTPExchangeResponse, _ request: RenderedRequest, _ checkpoint: inout ComputeCheckpoint
    ) async throws(StageFailure) -> PollFinding {
        let answer = requests.answer(of: response)
        if response.status == 204 {
            return .refused(
                requests.failure(
                    "\(requests.name(of: request.description.url)) has no more events of the job (204), "
                        + "and none has said how it ended", answer, of: request,
                    hint: "look at the service; '\(context.facts.restartCommand)' begins another job", in: context))
        }
        let type = answer.header("Content-Type").first.map { " but \(ShownText.excerpt($0, limit: 60, in: context))" }
        let title = "the answer is no stream of server-sent events (text/event-stream)\(type ?? "")"
        let start = ShownText.excerpt(answer.text, limit: 120, in: context)
        try await PollDoubt.tell(
            [PollDoubt(key: "no stream", message: "\(title); it begins: \(start)")], &checkpoint, in: context)
        return .failedPoll(detail: title, floor: response.retryAfter(now: context.now))
    }
}
