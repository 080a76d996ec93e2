import PipelineCore
import PipelineHTTP

/// Makes the spans of what has ended in a job: job → stage → attempt → exchange, by the conventions of OpenTelemetry
/// (https://opentelemetry.io/docs/specs/semconv/http/http-spans/ and …/cicd/cicd-spans/).
struct SpanMaker: Sendable {
    let job: JobID
    let pipeline: String
    let link: TraceLink?
    private let identity: TraceIdentity

    init(job: JobID, pipeline: String, link: TraceLink?) {
        self.job = job
        self.pipeline = pipeline
        self.link = link
        identity = TraceIdentity(job)
    }

    /// The span of the job. A job that was taken up again after its end has one more, below the first.
    func span(of run: JobHistory.JobRun) -> Span {
        var span = Span(
            traceID: identity.traceID, spanID: identity.jobSpan(run: run.number),
            parentID: run.number > 1 ? identity.jobSpan() : nil, name: pipeline, start: run.started.milliseconds,
            end: run.ended.milliseconds)
        span.attributes = [
            .init("cicd.pipeline.name", pipeline), .init("cicd.pipeline.run.id", job.text),
            .init("cicd.pipeline.result", run.result),
        ]
        span.error = run.result == "failure" ? run.error ?? "failed" : nil
        span.link = link
        return span
    }

    /// The spans of a step, of its attempts and of what these sent. `exchanges` are the step's, in their order.
    func spans(of run: JobHistory.StepRun, jobRun: Int, exchanges: [ExchangeRecord]) -> [Span] {
        let ownID = identity.stepSpan(run.step, run: run.number)
        let isItem = run.step.item != nil
        let parent =
            isItem
            ? identity.stepSpan(StepKey(stage: run.step.stage), run: run.parentNumber) : identity.jobSpan(run: jobRun)
        var span = Span(
            traceID: identity.traceID, spanID: ownID, parentID: parent, name: "\(run.step)",
            start: run.started.milliseconds, end: run.ended.milliseconds)
        span.attributes = [
            .init("cicd.pipeline.name", pipeline), .init("cicd.pipeline.run.id", job.text),
            .init("cicd.pipeline.task.name", run.step.stage),
            .init("cicd.pipeline.task.run.id", "\(job.text)/\(run.step)"),
            .init("cicd.pipeline.task.run.result", run.result),
        ]
        if let item = run.step.item { span.attributes.append(.init("pipeline.item", Int64(item))) }
        span.error = run.error
        var spans = [span]
        let own = exchanges.filter { $0.started >= run.started && $0.started <= run.ended }
        for (place, attempt) in run.attempts.enumerated() {
            let isLast = place == run.attempts.count - 1
            let limit = attempt.ended ?? (isLast ? run.ended : run.attempts[place + 1].started)
            let sent = own.filter {
                $0.attempt == attempt.number && $0.started >= attempt.started && $0.started <= limit
            }
            // One that ended with its process is known to have lived as long as what it told and sent.
            let end = attempt.ended ?? min(limit, sent.map(\.ended).reduce(attempt.seen, max))
            spans += self.spans(
                of: attempt, in: run, below: ownID, until: end, sent, isLast: isLast)
        }
        return spans
    }

    private func spans(
        of attempt: JobHistory.Attempt, in run: JobHistory.StepRun, below parent: String, until end: Timestamp,
        _ sent: [ExchangeRecord], isLast: Bool
    ) -> [Span] {
        let path = "\(parent)/attempt/\(attempt.number)/\(attempt.started.milliseconds)"
        var span = Span(
            traceID: identity.traceID, spanID: identity.spanID(path), parentID: parent,
            name: "\(run.step) attempt \(attempt.number)", start: attempt.started.milliseconds, end: end.milliseconds)
        span.attributes = [.init("pipeline.attempt", Int64(attempt.number))]
        span.error = attempt.error ?? (attempt.ended == nil ? "interrupted" : nil)
        // A poll that found nothing is a count: only the one that found the end is a span.
        let found = isLast ? sent.lastIndex { $0.role == ExchangeRecord.poll } : nil
        let shown = sent.enumerated().filter { $0.element.role != ExchangeRecord.poll || $0.offset == found }
        let polls = sent.count - shown.count
        if polls > 0 { span.attributes.append(.init("pipeline.polls", Int64(polls))) }
        var spans = [span]
        var seen: [String: Int] = [:]
        for (_, exchange) in shown {
            let key = "\(path)/\(exchange.started.milliseconds)/\(exchange.method)/\(exchange.url)"
            seen[key, default: 0] += 1
            spans.append(self.span(of: exchange, below: span.spanID, "\(key)/\(seen[key] ?? 1)"))
        }
        return spans
    }

    private func span(of exchange: ExchangeRecord, below parent: String, _ path: String) -> Span {
        var span = Span(
            traceID: identity.traceID, spanID: identity.spanID(path), parentID: parent, name: exchange.method,
            kind: .client, start: exchange.started.milliseconds,
            end: exchange.ended.milliseconds)
        span.attributes = [.init("http.request.method", exchange.method), .init("url.full", exchange.url)]
        if let parts = URLParts(exchange.url) {
            let authority = parts.authority.split(separator: "@").last.map { String($0) } ?? parts.authority
            let colon = authority.hasSuffix("]") ? nil : authority.lastIndex(of: ":")
            span.attributes.append(.init("server.address", colon.map { String(authority[..<$0]) } ?? authority))
            if let colon, let port = Int64(authority[authority.index(after: colon)...]) {
                span.attributes.append(.init("server.port", port))
            }
        }
        if let body = exchange.body { span.attributes.append(.init("http.request.body.size", body.size)) }
        if let answer = exchange.answer {
            span.attributes.append(.init("http.response.status_code", Int64(answer.status)))
            span.attributes.append(.init("http.response.body.size", answer.body.size))
            if answer.status >= 400 {
                span.attributes.append(.init("error.type", "\(answer.status)"))
                span.error = "status \(answer.status)"
            }
        } else {
            span.attributes.append(.init("error.type", "no response"))
            span.error = exchange.failure ?? "no response"
        }
        return span
    }
}

extension ExchangeRecord {
    /// The end of its response; its start where none came.
    fileprivate var ended: Timestamp {
        started + .milliseconds(Int64(((answer?.timings.total ?? 0) * 1000).rounded()))
    }
}
