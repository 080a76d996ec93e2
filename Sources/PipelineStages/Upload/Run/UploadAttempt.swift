import JSONPath
import PipelineCore
import PipelineHTTP

/// The values that one attempt of an upload works with: it changes nothing.
struct UploadAttempt: Sendable {
    @Indirect private(set) var stage: UploadStage
    let context: StageContext<UploadCheckpoint>
    let source: SourceFile
    /// The number of bytes that lie between two marks, and what a crash costs at most for protocols of parts.
    var partSize: Int64

    var requests: StageRequests { stage.requests.requests }

    /// The document's request, with the stage's captures.
    var definition: RequestDefinition { stage.requests.definition }

    /// The growing pauses after responses that may be others in a minute, for one that came so often before.
    static func pause(after count: Int) -> Duration {
        let pauses: [Duration] = [.seconds(2), .seconds(6), .seconds(20), .seconds(60)]
        return pauses[min(max(0, count), pauses.count - 1)]
    }

    // MARK: Requests

    /// Sends a request whose bytes are not of the file.
    func send(
        _ rendered: RenderedRequest, _ writer: inout CheckpointWriter
    ) async throws(StageFailure) -> HTTPExchangeResponse {
        switch await requests.send(rendered, in: context) {
        case .success(let response): return response
        case .failure(let failure): throw await unanswered(failure, rendered, &writer)
        }
    }

    /// The request that removes what is at the service; nil when there is nothing there.
    func cancellation(of checkpoint: UploadCheckpoint) async throws(StageFailure) -> RenderedRequest? {
        if case .parts(let state) = checkpoint.phase {
            guard let parts = stage.parts else { return nil }
            return try await PartsRequests(attempt: self, definition: parts).cancellation(state.uploadID)
        }
        guard let request = session(from: checkpoint).cancellation else { return nil }
        return try await stage.requests.render(request, of: source, in: context)
    }

    /// Removes what is at the service; whatever it answers, more can't be done.
    func remove(_ checkpoint: UploadCheckpoint) async {
        guard !Task.isCancelled, let rendered = try? await cancellation(of: checkpoint) else { return }
        _ = await requests.send(rendered, in: context) { $0.totalTimeout = .seconds(10) }
    }

    /// Does the same, and forgets the upload: the next attempt makes another.
    func remove(_ writer: inout CheckpointWriter) async throws(StageFailure) {
        await remove(writer.checkpoint)
        writer.checkpoint.forgetUpload()
        try await writer.keep()
    }

    /// The values that are taken out of the response that ends the upload. Those of the request that made it are among
    /// them where its own response never came, and for protocols in which one request does both.
    func captures(endingFrom phase: UploadPhase) -> CaptureSet {
        if case .open(let upload) = phase, upload.hasCaptures { return definition.capture }
        return CaptureSet(stage.creation.entries + definition.capture.entries)
    }

    // MARK: Failures

    func definite(
        _ title: String, hint: String? = nil, _ response: HTTPExchangeResponse, _ rendered: RenderedRequest
    ) -> StageFailure {
        .definite(requests.failure(title, requests.answer(of: response), of: rendered, hint: hint, in: context))
    }

    /// A failure that another attempt may mend.
    func passing(
        _ title: String, hint: String? = nil, _ response: HTTPExchangeResponse, _ rendered: RenderedRequest
    ) -> AttemptFailure {
        let answer = requests.answer(of: response)
        let failure = requests.failure(title, answer, of: rendered, hint: hint, in: context)
        if let closing = response.closing {
            return AttemptFailure(failure, kind: .held(.closed), retryAfter: closing)
        }
        return AttemptFailure(failure, kind: .answered, retryAfter: response.retryAfter(now: context.now))
    }

    /// An exchange without a whole response. What was sent is kept in mind; the next attempt asks for the offset.
    func unanswered(
        _ failure: ExchangeFailure, _ rendered: RenderedRequest, _ writer: inout CheckpointWriter
    ) async -> StageFailure {
        do throws(StageFailure) {
            try await writer.keep()
        } catch {
            return error
        }
        return requests.failure(failure, of: rendered, in: context)
    }

    /// That nobody can know whether the service has the file, and what to do about it.
    func unknown(_ reason: String) -> StageFailure {
        .definite(GuardedSubmit.unknown(.upload, reason, requests, in: context))
    }

    /// The file is no longer the one of which a part was sent. What is at the service is removed there, and the next
    /// attempt, which only a person can order, begins again.
    func endAsChanged(_ writer: inout CheckpointWriter) async -> StageFailure {
        let isOpen = await context.hasOpenSubmit
        if !writer.checkpoint.phase.mayHaveEnded(hasOpenSubmit: isOpen, isStorage: stage.mode == .s3) {
            await remove(writer.checkpoint)
        }
        writer.checkpoint.forgetUpload()
        writer.checkpoint.source = nil
        // What is found of it, or answered to its key, would be taken for the file as it is now.
        if isOpen { writer.checkpoint.phase = .overtaken }
        do throws(StageFailure) {
            try await writer.commit(progressed: true)
        } catch {
            return error
        }
        return changed(isOpen: isOpen)
    }

    /// That the file is another one, and what to do about it.
    func changed(isOpen: Bool) -> StageFailure {
        let again =
            isOpen
            ? "what it was before may be at the service; '\(context.facts.restartCommand)' sends it as it is"
            : "when it is as it should be, it is sent from the beginning"
        return .definite(
            StepFailure(
                "the file changed while it was being uploaded: \(source.path)", hint: again,
                service: requests.service?.name, place: context.facts.place))
    }
}

extension UploadPhase {
    /// Returns whether an end that was begun may have been taken, so that nothing is to be removed. S3 keeps by itself what
    /// an end has made.
    func mayHaveEnded(hasOpenSubmit: Bool, isStorage: Bool) -> Bool {
        guard case .parts(let state) = self else { return hasOpenSubmit }
        return !isStorage && (hasOpenSubmit || state.isCompleting)
    }
}
