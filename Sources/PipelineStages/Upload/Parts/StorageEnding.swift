import HTTPTypes
import PipelineCore
import PipelineHTTP

/// The ends of an upload to S3 whose status does not tell what became of it: the upload is gone, its parts may still be
/// put together, or a 200 carries an error.
struct StorageEnding {
    /// The number of times that the object of an end that was begun is looked for again, over some five minutes. A service
    /// goes on with an end whose client is gone, and putting many parts together may take it minutes
    /// (https://docs.aws.amazon.com/AmazonS3/latest/API/API_CompleteMultipartUpload.html).
    private static let mostLooks = 8

    let parts: PartsRequests
    /// The progress of the upload.
    let state: PartsCheckpoint

    private var attempt: UploadAttempt { parts.attempt }
    private var requests: StageRequests { attempt.requests }
    private var context: StageContext<UploadCheckpoint> { attempt.context }

    /// The upload is no longer there: because it was complete, when the object is, else it is made again. Nil when the
    /// response is to be judged as it is.
    /// - Parameter isEndBegun: whether an end before this response was begun, which may still be under way.
    func afterLoss(
        _ response: HTTPExchangeResponse, _ rendered: RenderedRequest, isEndBegun: Bool,
        _ writer: inout CheckpointWriter
    ) async throws(StageFailure) -> StageOutcome<UploadCheckpoint>? {
        if let failure = try await UploadLoss(attempt: attempt).doubt(response, rendered, &writer) { throw failure }
        guard state.isCompleting else { throw try await gone(response, rendered, &writer) }
        let look = try await parts.look()
        var object = try await attempt.send(look, &writer)
        guard state.made(object, of: attempt.source.size, isContested: response.status == 412) else {
            if response.status == 412 { return nil }
            if isEndBegun, let outcome = lookAgain(&writer) { return outcome }
            throw try await gone(response, rendered, &writer)
        }
        let document =
            "<CompleteMultipartUploadResult><Location>\(PartsRequests.escaped(object.url))</Location>"
            + "<ETag>\(PartsRequests.escaped(object.headers[.eTag] ?? ""))</ETag></CompleteMultipartUploadResult>"
        object.body = Array(document.utf8)
        return try await UploadEnding(attempt: attempt, isReplayed: parts.definition.ask != nil).conclude(
            requests.answer(of: object), look, &writer)
    }

    /// Waits for the object; nil once it was looked for so often that the end is to be believed lost.
    private func lookAgain(_ writer: inout CheckpointWriter) -> StageOutcome<UploadCheckpoint>? {
        let misses = writer.checkpoint.progress.misses
        guard misses < Self.mostLooks else { return nil }
        writer.checkpoint.progress.misses = misses + 1
        writer.checkpoint.phase = .parts(state)
        let reason = WaitReason(.settle, detail: "the service may still put the parts together")
        return .waiting(
            writer.checkpoint, until: .at(context.now + UploadAttempt.pause(after: misses)), reason)
    }

    /// The completion begins its response with 200 before it knows how it ends: an error then stands in the body.
    func hiddenFailure(
        _ response: HTTPExchangeResponse, _ rendered: RenderedRequest, _ writer: inout CheckpointWriter
    ) async throws(StageFailure) -> StageFailure? {
        let answer = requests.answer(of: response)
        let code = answer.xmlText("/Error/Code")
        let isComplete = answer.xmlText("/CompleteMultipartUploadResult/ETag") != nil
        guard code != nil || !isComplete else { return nil }
        if code == "NoSuchUpload" { return try await gone(response, rendered, &writer) }
        let name = requests.name(of: rendered.description.url)
        let words = answer.xmlText("/Error/Message") ?? code ?? "no result"
        let step = requests.failure(
            "\(name) answered 200 and could not put the parts together: \(words)", answer, of: rendered, in: context)
        let passing: Set<String> = [
            "InternalError", "ServiceUnavailable", "SlowDown", "RequestTimeout", "OperationAborted",
        ]
        let isPassing = code.map { passing.contains($0) } ?? true
        return .failed(AttemptFailure(step, kind: isPassing ? .answered : .definite))
    }

    /// The service no longer has the upload.
    private func gone(
        _ response: HTTPExchangeResponse, _ rendered: RenderedRequest, _ writer: inout CheckpointWriter
    ) async throws(StageFailure) -> StageFailure {
        try await UploadLoss(attempt: attempt).end(
            response, rendered, canBeMadeAnew: parts.definition.creates, &writer)
    }
}
