import PipelineCore
import PipelineHTTP

/// One attempt of an upload: looks whether the file is still the one that was begun, and goes on by the way that the
/// checkpoint and the protocol ask for.
struct UploadRun {
    let attempt: UploadAttempt
    private var writer: CheckpointWriter
    private let digest: UploadDigest?
    /// The file as it was when the upload began; nil when it begins now.
    private let begun: SourceFingerprint?

    /// - Parameter saved: what the journal has; nil for nothing.
    init(_ attempt: UploadAttempt, _ checkpoint: UploadCheckpoint, saved: UploadCheckpoint?) {
        self.attempt = attempt
        begun = checkpoint.source
        var checkpoint = checkpoint
        checkpoint.source = attempt.source.fingerprint
        let mode = attempt.stage.mode
        if mode.goesOnAtOffset || attempt.stage.offersResumption {
            var known: UploadDigest.Checkpoint?
            if case .open(let upload) = checkpoint.phase { known = upload.digest }
            digest = UploadDigest(attempt.source, known)
        } else {
            digest = nil
        }
        writer = CheckpointWriter(
            checkpoint, committed: saved == checkpoint ? saved : nil,
            isSparing: mode.startsAgain && attempt.source.size <= attempt.partSize, in: attempt.context)
    }

    mutating func perform() async throws(StageFailure) -> StageOutcome<UploadCheckpoint> {
        do throws(StageFailure) {
            return try await goOn()
        } catch {
            try await forgetSource(refusedBy: error)
            throw error
        }
    }

    /// What goes in one request and was refused is nowhere: the next attempt, which only a person can order, sends the file as
    /// it is by then.
    private mutating func forgetSource(refusedBy failure: StageFailure) async throws(StageFailure) {
        guard case .failed(let failed) = failure, failed.kind == .definite, (failed.failure.status ?? 0) >= 400,
            attempt.stage.mode.startsAgain, !attempt.stage.offersResumption, attempt.stage.complete == nil,
            await !attempt.context.hasOpenSubmit
        else { return }
        writer.checkpoint.source = nil
        try await writer.commit(progressed: false)
    }

    private mutating func goOn() async throws(StageFailure) -> StageOutcome<UploadCheckpoint> {
        if let begun, begun != attempt.source.fingerprint { throw await attempt.endAsChanged(&writer) }
        let source = attempt.source
        try await attempt.context.checkSent(
            [source.path: source.fingerprint.text], service: attempt.requests.service?.name)
        if case .overtaken = writer.checkpoint.phase {
            if await attempt.context.hasOpenSubmit { throw attempt.changed(isOpen: true) }
            writer.checkpoint.phase = .pending
        }
        guard try agreesWithDigest() else { throw await attempt.endAsChanged(&writer) }
        try await adoptOrigin()
        let stage = attempt.stage
        if let complete = stage.complete, case .filled = writer.checkpoint.phase {
            return try await UploadEnding(attempt: attempt).complete(with: complete, &writer)
        }
        if stage.mode.startsAgain, attempt.definition.once != nil, stage.complete == nil {
            var guarded = GuardedUpload(attempt: attempt, writer: writer)
            return try await guarded.perform()
        }
        if let parts = stage.parts, try await goesInParts() {
            var run = PartsRun(attempt, parts, writer)
            return try await run.perform()
        }
        var run = SessionRun(attempt, writer, digest)
        return try await run.perform()
    }

    /// Looks whether fresh captures may lead to another upload than the one that was begun: that begins with the first
    /// byte, unless the service is asked what it has where they lead.
    private mutating func adoptOrigin() async throws(StageFailure) {
        let origin = try await attempt.origin()
        let isOther = writer.checkpoint.origin.map { $0 != origin } ?? false
        // It is kept with what the service says, so that a kill in between does not leave that unasked.
        if isOther, case .parts = writer.checkpoint.phase, attempt.stage.parts?.ask != nil { return }
        writer.checkpoint.origin = origin
        guard isOther, await leavesUpload() else { return }
        let (most, losses) = (attempt.context.facts.retry.attempts, writer.checkpoint.progress.losses)
        writer.checkpoint.forgetUpload()
        // One that is never complete would be begun forever.
        writer.checkpoint.progress.losses = losses < most ? losses + 1 : 0
        guard losses >= most else { return }
        try await writer.keep()
        throw .definite(
            StepFailure(
                "fresh captures led to another upload \(losses + 1) times, and none was complete",
                hint: "are they good for as long as the upload takes, and the request that ends it?",
                service: attempt.requests.service?.name, place: attempt.context.facts.place))
    }

    /// Returns whether what is at the service is of no use where fresh captures lead.
    private func leavesUpload() async -> Bool {
        let stage = attempt.stage
        let once = attempt.definition.once
        switch writer.checkpoint.phase {
        case .pending, .overtaken: return false
        case .open(let upload):
            // One that the request names is asked itself, and of one that may be complete "once" knows.
            return stage.makesUpload && !(upload.mayBeComplete && once != nil && stage.complete == nil)
        case .parts, .filled:
            // S3 says itself whether it has the upload; and what became of an end nobody knows without "once".
            if case .parts = writer.checkpoint.phase, stage.mode == .s3 { return false }
            let isOpen = await attempt.context.hasOpenSubmit
            return once != nil || !isOpen
        }
    }

    /// Returns whether the bytes that were sent are still those of the file, as far as its digest tells.
    private func agreesWithDigest() throws(StageFailure) -> Bool {
        guard let digest, case .open(let upload) = writer.checkpoint.phase else { return true }
        do throws(FileFailure) {
            return try digest.agrees(with: upload.digest)
        } catch {
            throw .definite(error.stepFailure(place: attempt.context.facts.place))
        }
    }

    /// A file of one part needs no parts at S3; one that was begun in parts goes on in them.
    private func goesInParts() async throws(StageFailure) -> Bool {
        if attempt.stage.mode == .parts { return true }
        if case .parts = writer.checkpoint.phase { return true }
        let size = attempt.source.size
        if size <= PartTable.storagePartSize(for: size, wanted: attempt.partSize) { return false }
        // A URL that was signed beforehand (AWS Signature 4 in the query) is for one PUT, and for nothing else.
        let whole = UploadRequest(purpose: .whole, body: .file(offset: 0, count: size))
        let request = try await attempt.stage.requests.render(whole, of: attempt.source, in: attempt.context)
            .description
        let isSigned =
            request.query.contains { $0.name == "X-Amz-Signature" } || request.url.contains("X-Amz-Signature=")
        return !isSigned
    }
}
