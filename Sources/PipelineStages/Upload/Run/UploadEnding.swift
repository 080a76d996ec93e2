import JSONPath
import PipelineCore
import PipelineHTTP

/// The steps after the response that ends an upload: its captures, then the author's `complete`.
struct UploadEnding {
    let attempt: UploadAttempt
    /// Of what was sent; nil for protocols that begin again, or send parts in any order.
    var digest: UploadDigest?
    /// True when the response was asked for again: it need not be the one that was lost.
    var isReplayed = false

    private var context: StageContext<UploadCheckpoint> { attempt.context }
    private var requests: StageRequests { attempt.requests }

    /// Takes the response that ended the upload: judges it, and takes the captures out.
    func finish(
        _ response: HTTPExchangeResponse, _ rendered: RenderedRequest, _ writer: inout CheckpointWriter
    ) async throws(StageFailure) -> StageOutcome<UploadCheckpoint> {
        let answer: ServiceResponse
        do throws(StageFailure) {
            answer = try await requests.judge(response, of: rendered, in: context)
        } catch {
            // The upload is over, whatever was said to it: another attempt is another upload.
            writer.checkpoint.forgetUpload()
            try await writer.keep()
            throw error
        }
        return try await conclude(answer, rendered, &writer)
    }

    /// Takes the captures out of a response that ended the upload and was judged.
    func conclude(
        _ answer: ServiceResponse, _ rendered: RenderedRequest, _ writer: inout CheckpointWriter
    ) async throws(StageFailure) -> StageOutcome<UploadCheckpoint> {
        let captures: JSONObject
        do throws(StageFailure) {
            let wanted = attempt.captures(endingFrom: writer.checkpoint.phase)
            captures = try requests.captures(wanted, from: answer, of: rendered, in: context)
        } catch {
            if Self.isGarbled(answer) { throw try await endAsGarbled(error, &writer) }
            guard isReplayed else { throw error }
            return try await UploadLoss(attempt: attempt).reconcile(&writer)
        }
        if let whole = digest?.whole() {
            attempt.stage.digests.note(whole.digest, of: attempt.source.path, whole.version)
        }
        guard let complete = attempt.stage.complete else {
            try await writer.commitWithEnd()
            return .finished(captures)
        }
        // All bytes are at the service, with what its response gave: only the author's last request is sent again.
        writer.checkpoint.phase = .filled(url: writer.checkpoint.phase.url)
        try await writer.commitFilled(captures)
        return try await self.complete(with: complete, &writer)
    }

    /// Sends the request that ends a filled upload. Whatever becomes of it, the bytes are there and stay: only this
    /// request is sent again.
    func complete(
        with complete: RequestDefinition, _ writer: inout CheckpointWriter
    ) async throws(StageFailure) -> StageOutcome<UploadCheckpoint> {
        var rendered = try await requests.render(complete, in: context, role: "complete")
        if goesThroughLedger(complete) { return try await outcome(of: submit(complete, rendered), &writer) }
        // A repetition by libcurl would find the upload ended, and be refused.
        rendered.options.freshConnection = true
        let response = try await attempt.send(rendered, &writer)
        let answer = try await requests.judge(response, of: rendered, in: context)
        let captures = try requests.captures(complete.capture, from: answer, of: rendered, in: context)
        try await writer.commit(progressed: true)
        return .finished(captures)
    }

    /// Returns whether the author's last request is one that must not be sent twice: like that of a `request` stage it is
    /// unknown when its response is lost, unless `once` says how that is reconciled.
    func goesThroughLedger(_ complete: RequestDefinition) -> Bool {
        attempt.definition.once != nil || !complete.isIdempotent
    }

    /// Sends the author's last request like any submit through the ledger: when its response is lost, it alone is sent
    /// again, or found, as `once` says.
    func submit(_ complete: RequestDefinition, _ rendered: RenderedRequest) async throws(StageFailure) -> SubmitOutcome
    {
        var definition = complete
        definition.once = attempt.definition.once
        definition.onUnknown = attempt.definition.onUnknown
        let wanted = attempt.stage.complete?.capture ?? attempt.definition.capture
        return try await GuardedSubmit(requests: requests, definition: definition).perform(rendered, in: context) {
            receipt async throws(StageFailure) in wanted.taken(from: receipt)
        }
    }

    /// Returns what became of the upload, after what became of a submit that ends it.
    func outcome(
        of submit: SubmitOutcome, _ writer: inout CheckpointWriter
    ) async throws(StageFailure) -> StageOutcome<UploadCheckpoint> {
        switch submit {
        case .submitted:
            try await writer.commit(progressed: true)
            return .finished([:])
        case .waiting(let time): return .waiting(writer.checkpoint, until: .at(time), WaitReason(.settle))
        case .unknown(let submit): return .unknown(writer.checkpoint, submit)
        }
    }

    /// Returns whether a response says that it is JSON and is none: it was damaged on its way, and says nothing of the
    /// upload.
    private static func isGarbled(_ answer: ServiceResponse) -> Bool {
        let type = answer.header("Content-Type").first?.lowercased() ?? ""
        return type.contains("json") && (try? answer.json()) == nil
    }

    /// A damaged response is as good as a lost one: the next attempt asks for it again, or sends the file again.
    private func endAsGarbled(
        _ failure: StageFailure, _ writer: inout CheckpointWriter
    ) async throws(StageFailure) -> StageFailure {
        try await writer.keep()
        guard case .failed(var failed) = failure else { return failure }
        failed.kind = .answered
        return .failed(failed)
    }
}
