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

    /// Sends the request that ends a filled upload. Whatever becomes of it, the bytes are there and stay: only this
    /// request is sent again.
    mutating func end(with complete: RequestDefinition) async throws(StageFailure) -> StageOutcome<UploadCheckpoint> {
        var rendered = try await requests.render(complete, in: context, role: "complete")
        if stage.requests.definition.once != nil { return try await submit(complete, rendered) }
        // A repetition by libcurl would find the upload ended, and be refused.
        rendered.options.freshConnection = true
        let response = try await answer(to: rendered)
        let answer = try await requests.judge(response, of: rendered, in: context)
        let captures = try requests.captures(complete.capture, from: answer, of: rendered, in: context)
        try await commit(countsBytes: true)
        return .finished(captures)
    }

    /// The same where the author says by `once` how a lost answer is settled: like any submit it goes through the ledger,
    /// and it alone is sent again, or found.
    mutating func submit(
        _ complete: RequestDefinition, _ rendered: RenderedRequest
    ) async throws(StageFailure) -> StageOutcome<UploadCheckpoint> {
        var definition = complete
        definition.once = stage.requests.definition.once
        definition.onUnknown = stage.requests.definition.onUnknown
        let guarded = GuardedSubmit(requests: requests, definition: definition)
        let wasOpen = await context.hasOpenSubmit
        let outcome: SubmitOutcome
        do throws(StageFailure) {
            outcome = try await guarded.perform(rendered, in: context) { receipt async throws(StageFailure) in
                taken(from: receipt)
            }
        } catch {
            // Of an end that may have been taken nothing is to be removed.
            let isOpen = await context.hasOpenSubmit
            checkpoint.parts?.isCompleting = wasOpen || isOpen
            throw error
        }
        return try await ended(outcome)
    }
}
