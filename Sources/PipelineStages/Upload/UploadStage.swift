import HTTPTypes
import JSONPath
import PipelineCore
import PipelineHTTP

/// `upload`: sends a local file, and goes on where it was after an interruption if the protocol can.
struct UploadStage: Stage {
    let file: Template
    var mode: UploadProtocol
    let requests: UploadRequests
    /// The number of bytes that lie between two marks, and what a crash costs at most for protocols of parts.
    let partSize: Setting<Int64>
    /// The place in the response to a creation that says where the upload is; nil for `Location`.
    var location: Selector?
    /// The settings of the parts; nil for protocols without them.
    @IndirectOptional var parts: PartsDefinition?
    /// The captures of the request that makes the upload, for protocols that make one.
    var creation = CaptureSet()
    /// True when a plain request also brings the fields of resumable uploads: the service said nothing of what it speaks.
    private(set) var offersResumption = false
    /// The author's request after the last byte, with the stage's captures; nil for none, and where `parts` has it.
    @IndirectOptional var complete: RequestDefinition?
    /// Takes the digests of files that were sent whole.
    var digests = DigestCache()

    /// The file as it is when the step begins, which is on disk before any byte of it is sent.
    func firstCheckpoint(in scope: Scope) -> UploadCheckpoint? {
        guard let path = try? self.path(in: scope), let source = try? inspect(path) else { return nil }
        return UploadCheckpoint(source: source.fingerprint)
    }

    func resume(
        from saved: UploadCheckpoint?, in context: StageContext<UploadCheckpoint>
    ) async throws(StageFailure) -> StageOutcome<UploadCheckpoint> {
        if let saved, await context.hasSubmitted { return try await finished(saved, in: context) }
        let source = try await inspect(in: context, goingOnFrom: saved)
        var checkpoint = saved ?? UploadCheckpoint()
        guard mode == .auto else { return try await perform(source, checkpoint, saved, in: context) }
        if checkpoint.terms.chosen == nil {
            checkpoint.terms = try await UploadChoice(requests: requests, source: source).make(in: context)
            var first = checkpoint
            first.source = first.source ?? source.fingerprint
            try await context.commit(first)
        }
        guard let chosen = checkpoint.terms.chosen else { throw .definite(StepFailure("no protocol was chosen")) }
        return try await speaking(chosen).perform(source, checkpoint, saved, in: context)
    }

    /// What the service accepted is done, whatever became of the file since: only the step's end was not kept.
    private func finished(
        _ saved: UploadCheckpoint, in context: StageContext<UploadCheckpoint>
    ) async throws(StageFailure) -> StageOutcome<UploadCheckpoint> {
        var checkpoint = saved
        checkpoint.progress.handedOver = 0
        try await context.stage(checkpoint)
        return .finished([:])
    }

    private func speaking(_ chosen: UploadProtocol) -> UploadStage {
        var stage = self
        stage.mode = chosen
        stage.offersResumption = chosen == .put
        return stage
    }

    private func perform(
        _ source: SourceFile, _ checkpoint: UploadCheckpoint, _ saved: UploadCheckpoint?,
        in context: StageContext<UploadCheckpoint>
    ) async throws(StageFailure) -> StageOutcome<UploadCheckpoint> {
        let attempt = UploadAttempt(
            stage: self, context: context, source: source,
            // Of author's parts it may be what the creation's response says.
            partSize: mode == .parts ? 1 : try await partSize(in: context))
        var run = UploadRun(attempt, checkpoint, saved: saved)
        return try await run.perform()
    }

    /// True if a cancellation removes what the service has of the file. Other protocols have none, or services that may not
    /// know it: they keep it, and a retry goes on from there.
    var removesCancelled: Bool { mode == .gcs || mode == .s3 || parts?.cancel != nil }

    func cancel(
        from checkpoint: UploadCheckpoint?, in context: StageContext<UploadCheckpoint>
    ) async throws(StageFailure) {
        guard let checkpoint else { return }
        if mode == .auto {
            guard let chosen = checkpoint.terms.chosen else { return }
            return try await speaking(chosen).cancel(from: checkpoint, in: context)
        }
        let source = SourceFile(path: "", fingerprint: SourceFingerprint(size: 0, modified: 0, inode: 0))
        let attempt = UploadAttempt(stage: self, context: context, source: source, partSize: 1)
        guard let rendered = try await attempt.cancellation(of: checkpoint) else { return }
        try await send(cancellation: rendered, in: context)
    }

    /// Sends a cancellation. An upload that is gone is what was wanted, and a service that knows no cancellation can't be
    /// told; but what stays there for other reasons may cost money, and a person should know.
    private func send(
        cancellation rendered: RenderedRequest, in context: StageContext<UploadCheckpoint>
    ) async throws(StageFailure) {
        switch await requests.requests.send(rendered, in: context) {
        case .failure(let failure): throw requests.requests.failure(failure, of: rendered, in: context)
        case .success(let response):
            let isRefusal = [401, 403, 408, 423, 425, 429].contains(response.status)
            guard isRefusal || (response.status >= 500 && response.status != 501) else { return }
            do throws(StageFailure) {
                _ = try await requests.requests.judge(response, of: rendered, in: context)
            } catch .failed(let failed) where response.status == 423 {
                // The request that just broke off holds it for a while.
                throw .failed(AttemptFailure(failed.failure, kind: .answered, retryAfter: failed.retryAfter))
            }
        }
    }

    private func inspect(
        in context: StageContext<UploadCheckpoint>, goingOnFrom saved: UploadCheckpoint?
    ) async throws(StageFailure) -> SourceFile {
        let path: String? = try await context.evaluate { scope throws(EvaluationFailure) in try self.path(in: scope) }
        do throws(StepFailure) {
            return try inspect(path)
        } catch {
            if let path, let saved, let source = try await sent(saved, from: path, in: context) { return source }
            var failure = error
            failure.place = context.facts.place
            throw .definite(failure)
        }
    }

    /// The file as it was sent, where all of it is at the service and none is in its place by now: no byte of it is needed
    /// to end the upload. Nil for any other.
    private func sent(
        _ saved: UploadCheckpoint, from path: String, in context: StageContext<UploadCheckpoint>
    ) async throws(StageFailure) -> SourceFile? {
        guard saved.phase.isWhole, let fingerprint = saved.source else { return nil }
        let source = SourceFile(path: path, fingerprint: fingerprint)
        guard !source.hasChanged else { return nil }
        let stage = saved.terms.chosen.map(speaking) ?? self
        let attempt = UploadAttempt(stage: stage, context: context, source: source, partSize: 1)
        guard let origin = saved.origin else { return source }
        return try await attempt.origin() == origin ? source : nil
    }

    /// The absolute path of the file; nil for an empty one.
    private func path(in scope: Scope) throws(EvaluationFailure) -> String? {
        let text = try file.evaluateText(in: scope)
        return text.isEmpty || text.utf8.contains(0) ? nil : try scope.filePath(text)
    }

    private func inspect(_ path: String?) throws(StepFailure) -> SourceFile {
        guard let path else { throw StepFailure("\"file\" is empty", hint: "give the path of the file to send") }
        return try SourceFile.inspect(path)
    }

    private func partSize(in context: StageContext<UploadCheckpoint>) async throws(StageFailure) -> Int64 {
        max(1, try await context.value(of: partSize))
    }
}
