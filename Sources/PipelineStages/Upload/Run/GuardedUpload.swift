import PipelineCore
import PipelineHTTP

/// One attempt of an upload of one request that must not be sent twice: it goes through the submit ledger, like a submit.
struct GuardedUpload {
    let attempt: UploadAttempt
    var writer: CheckpointWriter

    mutating func perform() async throws(StageFailure) -> StageOutcome<UploadCheckpoint> {
        let definition = attempt.definition
        let source = attempt.source
        let input = "\(definition.method.rawValue) \(source.path) \(source.size) \(source.fingerprint.modified)"
        let wanted = attempt.captures(endingFrom: writer.checkpoint.phase)
        var guarded = GuardedSubmit(requests: attempt.requests, definition: definition)
        guarded.subject = .upload
        let digest = attempt.context.digest(Array(input.utf8))
        let outcome = try await guarded.perform(digest: digest, in: attempt.context) {
            receipt async throws(StageFailure) in
            wanted.taken(from: receipt)
        } exchange: { key async throws(StageFailure) in
            try await send(with: key)
        }
        return try await UploadEnding(attempt: attempt).outcome(of: outcome, &writer)
    }

    private mutating func send(with key: IdempotencyKey?) async throws(StageFailure) -> GuardedSubmit.Exchange {
        var session: any UploadSession = WholeSession(
            isForm: attempt.stage.mode == .multipart, total: attempt.source.size)
        guard case .send(let request) = session.begin() else {
            throw .definite(StepFailure("the upload can't begin"))
        }
        try await writer.commitBeforeSending()
        var rendered = try await attempt.stage.requests.render(request, of: attempt.source, in: attempt.context)
        rendered.options.freshConnection = true
        if let key { rendered.decorators.insert(key, at: 0) }
        var exchange = UploadExchange(attempt, request, rendered, nil)
        let result = try await exchange.perform(&session, &writer)
        var cannotHaveArrived = false
        if case .failure(let failure) = result {
            try await writer.keep()
            cannotHaveArrived = failure.lacksEnd(of: rendered)
        }
        return GuardedSubmit.Exchange(rendered: rendered, result: result, cannotHaveArrived: cannotHaveArrived)
    }
}
