import JSONPath
import PipelineCore
import PipelineHTTP

extension UploadRun {
    /// Keeps that all bytes are at the service, with what its answer gave, then sends the author's last request.
    mutating func fill(
        _ captures: JSONObject, then complete: RequestDefinition
    ) async throws(StageFailure) -> StageOutcome<UploadCheckpoint> {
        if let whole = digest?.whole() { stage.digests.note(whole.digest, of: source.path, whole.version) }
        checkpoint.isFilled = true
        let moved = BytesMoved(sent: checkpoint.uncounted)
        checkpoint.uncounted = 0
        try await context.commit(checkpoint, captures: captures, moved: moved)
        return try await end(with: complete)
    }

    /// Sends the request that ends a filled upload. Its answer may have been lost before: then `once` says how it is
    /// found again, and without it the request is sent again.
    mutating func end(with complete: RequestDefinition) async throws(StageFailure) -> StageOutcome<UploadCheckpoint> {
        if checkpoint.isCompleting, stage.requests.definition.once != nil { return try await settleLost() }
        checkpoint.isCompleting = true
        try await keep()
        let rendered = try await requests.render(complete, in: context, role: "complete")
        let response = try await answer(to: rendered)
        do throws(StageFailure) {
            let answer = try await requests.judge(response, of: rendered, in: context)
            let captures = try requests.captures(complete.capture, from: answer, of: rendered, in: context)
            try await commit(countsBytes: true)
            return .finished(captures)
        } catch {
            // It was answered, if not as wanted: nothing is lost.
            checkpoint.isCompleting = false
            try await keep()
            throw error
        }
    }
}
