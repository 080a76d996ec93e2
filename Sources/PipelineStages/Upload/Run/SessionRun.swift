import HTTPTypes
import JSONPath
import PipelineCore
import PipelineHTTP

/// One attempt of an upload that a session leads: the loop around it.
struct SessionRun {
    let attempt: UploadAttempt
    var writer: CheckpointWriter
    private var session: any UploadSession
    /// Of what is sent; nil for protocols that begin again.
    private let digest: UploadDigest?
    private var last: (response: HTTPExchangeResponse, rendered: RenderedRequest)?

    init(_ attempt: UploadAttempt, _ writer: CheckpointWriter, _ digest: UploadDigest?) {
        self.attempt = attempt
        self.writer = writer
        self.digest = digest
        session = attempt.session(from: writer.checkpoint)
    }

    private var context: StageContext<UploadCheckpoint> { attempt.context }

    /// Sends what the session wants until it has an end.
    mutating func perform() async throws(StageFailure) -> StageOutcome<UploadCheckpoint> {
        let loss = UploadLoss(attempt: attempt)
        // All bytes were sent, and where they went is not known.
        if attempt.stage.mode.goesOnAtOffset, writer.checkpoint.phase.url == nil, isResponseLost,
            session.canBeMadeAnew
        {
            return try await loss.reconcile(&writer)
        }
        var step = session.begin()
        while true {
            switch step {
            case .send(let request): step = try await send(request)
            case .done:
                guard let last else { throw .definite(StepFailure("the upload ended before it began")) }
                let end = UploadEnding(attempt: attempt, digest: digest, isReplayed: session.isReplaying)
                return try await end.finish(last.response, last.rendered, &writer)
            case .fail(.gone) where isResponseLost:
                if let last, let failure = try await loss.doubt(last.response, last.rendered, &writer) {
                    throw failure
                }
                return try await loss.reconcile(&writer)
            case .fail(let failure):
                guard let last else { throw .definite(StepFailure("the upload can't begin")) }
                throw try await end(failure, last.response, last.rendered)
            }
        }
    }

    /// True when an upload that is gone may be one that was complete, and `once` can tell.
    private var isResponseLost: Bool {
        guard case .open(let upload) = writer.checkpoint.phase, upload.mayBeComplete else { return false }
        return attempt.definition.once != nil && attempt.stage.complete == nil
    }

    // MARK: One step

    private mutating func send(_ request: UploadRequest) async throws(StageFailure) -> UploadStep {
        record()
        try await writer.commitBeforeSending()
        try takeUpDigest(for: request)
        let rendered = try await rendered(request)
        let response = try await response(to: request, rendered)
        last = (response, rendered)
        let confirmed = writer.checkpoint.progress.confirmed
        let step = session.next(after: located(response.judged, after: request))
        record()
        let captures = try captures(of: request, response, rendered, before: step)
        try await writer.commitFacts(since: confirmed, captures: captures)
        return step
    }

    private mutating func record() { writer.record(&session, digest, now: context.now) }

    private mutating func rendered(_ request: UploadRequest) async throws(StageFailure) -> RenderedRequest {
        do throws(StageFailure) {
            return try await attempt.stage.requests.render(request, of: attempt.source, in: context)
        } catch {
            // Bytes that are read for a checksum may already be those of another file.
            if attempt.source.hasChanged { throw await attempt.endAsChanged(&writer) }
            throw error
        }
    }

    private mutating func response(
        to request: UploadRequest, _ rendered: RenderedRequest
    ) async throws(StageFailure) -> HTTPExchangeResponse {
        var exchange = UploadExchange(attempt, request, rendered, digest)
        switch try await exchange.perform(&session, &writer) {
        case .success(let response): return response
        case .failure(let failure):
            if [.create, .append, .whole].contains(request.purpose), failure.lacksEnd(of: rendered) {
                session.position.takeBack()
                record()
            }
            throw await attempt.unanswered(failure, rendered, &writer)
        }
    }

    /// The response to a creation with the upload's address, wherever the author says that it stands, as `Location`.
    private func located(_ response: HTTPExchangeResponse, after request: UploadRequest) -> HTTPExchangeResponse {
        guard request.purpose == .create, let selector = attempt.stage.location else { return response }
        var response = response
        let value = selector.lenientValue(in: attempt.requests.answer(of: response))
        response.headers[.location] = value.string
        return response
    }

    /// The captures of the request that made the upload, out of its own response; nil for another response.
    private mutating func captures(
        of request: UploadRequest, _ response: HTTPExchangeResponse, _ rendered: RenderedRequest,
        before step: UploadStep
    ) throws(StageFailure) -> JSONObject? {
        let wanted = attempt.stage.creation
        guard request.purpose == .create, !wanted.entries.isEmpty, response.isSuccess, case .send = step,
            case .open(var upload) = writer.checkpoint.phase
        else { return nil }
        let answer = attempt.requests.answer(of: response)
        let captures = try attempt.requests.captures(wanted, from: answer, of: rendered, in: context)
        upload.hasCaptures = true
        writer.checkpoint.phase = .open(upload)
        return captures
    }

    /// Brings the digest to where a request begins to send.
    private func takeUpDigest(for request: UploadRequest) throws(StageFailure) {
        guard let digest, case .file(let start, _) = request.body else { return }
        do throws(FileFailure) {
            try digest.begin(at: start)
        } catch {
            throw .definite(error.stepFailure(place: context.facts.place))
        }
    }

    // MARK: Failures

    /// A session that can't go on, as a failure of the attempt or an end by other means.
    private mutating func end(
        _ failure: UploadFailure, _ response: HTTPExchangeResponse, _ rendered: RenderedRequest
    ) async throws(StageFailure) -> StageFailure {
        if failure == .busy || failure.isRefusal { writer.checkpoint.progress.held += 1 }
        try await writer.keep()
        let name = attempt.requests.name(of: rendered.description.url)
        let size = SizeText.describe(attempt.source.size)
        switch failure {
        case .refused: return await refusal(response, rendered)
        case .busy: return held("\(name) still holds the upload for another request", response, rendered)
        case .refusing(let status): return held("\(name) keeps refusing bytes with \(status)", response, rendered)
        case .gone:
            return try await UploadLoss(attempt: attempt).end(
                response, rendered, canBeMadeAnew: session.canBeMadeAnew, &writer)
        case .unclear: return .failed(attempt.unclear(response, rendered))
        case .unsupported:
            return attempt.definite(
                "\(name) does not speak \(session.language)",
                hint: "use \"protocol\": \"put\" or \"multipart\"", response, rendered)
        case .contradiction(let complaint):
            try await attempt.remove(&writer)
            return attempt.definite("\(name) contradicts itself: \(complaint)", response, rendered)
        case .wrong(let complaint):
            // It is the same upload that another attempt of this one asks for.
            let again =
                "'pipeline resume \(context.facts.job)' asks once more; if it stays so, "
                + "'\(context.facts.restartCommand)' makes another upload"
            return attempt.definite(
                "\(name) contradicts itself: \(complaint)", hint: writer.checkpoint.phase.url == nil ? nil : again,
                response, rendered)
        case .tooLarge(let limit):
            return attempt.definite(
                "the file has \(size), and \(name) takes \(SizeText.describe(limit)) at most",
                hint: "send a smaller file", response, rendered)
        case .tooSmall(let limit):
            return attempt.definite(
                "the file has \(size), and \(name) takes no less than \(SizeText.describe(limit))",
                hint: "send a larger file", response, rendered)
        }
    }

    private func refusal(_ response: HTTPExchangeResponse, _ rendered: RenderedRequest) async -> StageFailure {
        do throws(StageFailure) {
            _ = try await attempt.requests.judge(response, of: rendered, in: context)
            return attempt.definite("the upload can't go on after this answer", response, rendered)
        } catch {
            return error
        }
    }

    /// A service may not notice for a minute that a connection is gone. Until then it holds the upload, and each question
    /// costs one of the attempts that there are: the pauses between them grow.
    private func held(
        _ title: String, _ response: HTTPExchangeResponse, _ rendered: RenderedRequest
    ) -> StageFailure {
        var failed = attempt.passing(
            title, hint: "it may still wait for the connection that broke", response, rendered)
        let pause = UploadAttempt.pause(after: writer.checkpoint.progress.held - 1)
        failed.pause = failed.retryAfter == nil ? pause : .zero
        return .failed(failed)
    }
}

extension UploadFailure {
    fileprivate var isRefusal: Bool { if case .refusing = self { true } else { false } }
}

extension UploadAttempt {
    /// A response about an upload that says nothing of it.
    func unclear(_ response: HTTPExchangeResponse, _ rendered: RenderedRequest) -> AttemptFailure {
        passing(
            "\(requests.name(of: rendered.description.url)) did not say how much of the file it has",
            hint: "something on the way may have answered in its place", response, rendered)
    }
}
