import HTTPTypes
import JSONPath
import PipelineCore
import PipelineHTTP

/// `upload`: sends a local file, and goes on where it was after an interruption if the protocol can.
struct UploadStage: Stage {
    let file: Template
    var mode: UploadProtocol
    let requests: UploadRequests
    /// How many bytes lie between two marks, and what a crash costs at most for protocols of parts.
    let partSize: Setting<Int64>
    /// Where the answer to a creation says where the upload is; nil for `Location`.
    var location: Selector?
    /// What is said of the parts; nil for protocols without them.
    @Indirect var parts: PartsDefinition?
    /// The author's request behind the last byte, with the stage's captures; nil for none, and where `parts` has it.
    @Indirect var complete: RequestDefinition?
    /// Takes the digests of files that were sent whole.
    var digests = DigestCache()

    /// The file as it is when the step begins, which is on disk before any byte of it is sent.
    func firstCheckpoint(in scope: Scope, _ folders: JobFolders) -> UploadCheckpoint? {
        guard let text = try? file.evaluateText(in: scope), let source = try? inspect(text, folders) else { return nil }
        return UploadCheckpoint(source: source.fingerprint)
    }

    func resume(
        from saved: UploadCheckpoint?, in context: StageContext<UploadCheckpoint>
    ) async throws(StageFailure) -> StageOutcome<UploadCheckpoint> {
        if let saved, await context.hasSubmitted { return try await finished(saved, in: context) }
        let source = try await inspect(in: context)
        var checkpoint = saved ?? UploadCheckpoint()
        let known = checkpoint.source
        checkpoint.source = source.fingerprint
        if mode == .auto {
            if checkpoint.chosen == nil {
                let choice = try await UploadChoice(requests: requests, source: source).make(in: context)
                checkpoint.chosen = choice.chosen
                checkpoint.offer = choice.offer
                try await context.commit(checkpoint)
            }
            guard let chosen = checkpoint.chosen else { throw .definite(StepFailure("no protocol was chosen")) }
            return try await speaking(chosen).perform(known, source, checkpoint, saved, in: context)
        }
        return try await perform(known, source, checkpoint, saved, in: context)
    }

    /// What the service accepted is done, whatever became of the file since: only the step's end was not kept.
    private func finished(
        _ saved: UploadCheckpoint, in context: StageContext<UploadCheckpoint>
    ) async throws(StageFailure) -> StageOutcome<UploadCheckpoint> {
        var checkpoint = saved
        checkpoint.uncounted = 0
        try await context.stage(checkpoint, moved: BytesMoved(sent: saved.uncounted))
        return .finished([:])
    }

    private func speaking(_ chosen: UploadProtocol) -> UploadStage {
        var stage = self
        stage.mode = chosen
        return stage
    }

    private func perform(
        _ known: SourceFingerprint?, _ source: SourceFile, _ checkpoint: UploadCheckpoint, _ saved: UploadCheckpoint?,
        in context: StageContext<UploadCheckpoint>
    ) async throws(StageFailure) -> StageOutcome<UploadCheckpoint> {
        var run = UploadRun(
            stage: self, context: context, source: source, partSize: try await partSize(in: context),
            checkpoint: checkpoint, committed: saved == checkpoint ? saved : nil,
            session: try await session(for: source, from: checkpoint, in: context))
        if let known, known != source.fingerprint {
            guard let parts else { throw await run.endAsChanged() }
            let all = PartsRequests(upload: requests, definition: parts, source: source, context: context)
            throw await run.endPartsAsChanged(all)
        }
        if checkpoint.isOvertaken == true, await context.hasOpenSubmit { throw run.changed(isOpen: true) }
        if try await !run.agreesWithDigest() { throw await run.endAsChanged() }
        return try await run.perform()
    }

    func cancel(
        from checkpoint: UploadCheckpoint?, in context: StageContext<UploadCheckpoint>
    ) async throws(StageFailure) {
        guard let checkpoint else { return }
        if mode == .auto {
            guard let chosen = checkpoint.chosen else { return }
            return try await speaking(chosen).cancel(from: checkpoint, in: context)
        }
        if let parts, let state = checkpoint.parts {
            guard state.isCreated else { return }
            let source = SourceFile(path: "", fingerprint: SourceFingerprint(size: 0, modified: 0, inode: 0))
            let all = PartsRequests(upload: requests, definition: parts, source: source, context: context)
            guard let rendered = try await all.cancellation(state.uploadID) else { return }
            return try await tell(rendered, in: context)
        }
        let source = SourceFile(path: "", fingerprint: SourceFingerprint(size: 0, modified: 0, inode: 0))
        guard let request = try await session(for: source, from: checkpoint, in: context).cancellation else { return }
        let rendered = try await requests.render(request, of: source, in: context)
        try await tell(rendered, in: context)
    }

    /// Sends a cancellation. An upload that is gone is what was wanted, and a service that knows no cancellation can't be
    /// told; but what stays there for other reasons may cost money, and a person should know.
    private func tell(
        _ rendered: RenderedRequest, in context: StageContext<UploadCheckpoint>
    ) async throws(StageFailure) {
        switch await requests.requests.send(rendered, in: context) {
        case .failure(let failure): throw requests.requests.failure(failure, of: rendered, in: context)
        case .success(let response):
            let isRefusal = [401, 403, 408, 423, 425, 429].contains(response.status)
            guard isRefusal || (response.status >= 500 && response.status != 501) else { return }
            _ = try await requests.requests.judge(response, of: rendered, in: context)
        }
    }

    private func session(
        for source: SourceFile, from checkpoint: UploadCheckpoint, in context: StageContext<UploadCheckpoint>
    ) async throws(StageFailure) -> UploadSession {
        let total = source.size
        switch mode {
        case .resumable:
            return .resumable(resumable(total, checkpoint, try await chunk(checkpoint, in: context)))
        case .tus:
            let chunk = try await chunk(checkpoint, in: context)
            guard let url = checkpoint.url else {
                return .tus(TusSession(total: total, chunk: chunk, offer: checkpoint.offer))
            }
            return .tus(
                TusSession(
                    total: total, chunk: chunk, url: url, confirmed: checkpoint.confirmed,
                    mayBeComplete: checkpoint.mayBeComplete, offer: checkpoint.offer))
        case .gcs:
            return .google(
                GoogleSession(
                    total: total,
                    chunk: try await chunk(checkpoint, granularity: GoogleSession.granularity, in: context),
                    isGiven: requests.definition.method == .put, url: checkpoint.url, confirmed: checkpoint.confirmed,
                    mayBeComplete: checkpoint.mayBeComplete))
        case .put, .multipart, .s3, .parts, .auto:
            return .whole(WholeSession(isForm: mode == .multipart, total: total))
        }
    }

    private func chunk(
        _ checkpoint: UploadCheckpoint, granularity: Int64 = 1, in context: StageContext<UploadCheckpoint>
    ) async throws(StageFailure) -> UploadChunk {
        UploadChunk(
            size: checkpoint.chunk, part: try await partSize(in: context), granularity: granularity,
            handedOver: checkpoint.uncounted)
    }

    private func resumable(
        _ total: Int64, _ checkpoint: UploadCheckpoint, _ chunk: UploadChunk
    ) -> ResumableSession {
        let version = checkpoint.version ?? .newest
        guard let url = checkpoint.url else {
            // As long as no URL is known a lost answer can only be settled by "once", or by a method that does the same
            // when it is repeated.
            let isHarmless = requests.definition.method == .put || requests.definition.once != nil
            return ResumableSession(
                total: total, version: version, isVersionSettled: checkpoint.version != nil,
                isOptimistic: isHarmless && total <= chunk.part, chunk: chunk)
        }
        return ResumableSession(
            total: total, version: version, url: url, confirmed: checkpoint.confirmed,
            mayBeComplete: checkpoint.mayBeComplete, chunk: chunk)
    }

    private func inspect(in context: StageContext<UploadCheckpoint>) async throws(StageFailure) -> SourceFile {
        let text = try await context.evaluate { scope throws(EvaluationFailure) in try file.evaluateText(in: scope) }
        do throws(StepFailure) {
            return try inspect(text, context.facts.folders)
        } catch {
            var failure = error
            failure.place = context.facts.place
            throw .definite(failure)
        }
    }

    private func inspect(_ text: String, _ folders: JobFolders) throws(StepFailure) -> SourceFile {
        guard !text.isEmpty, !text.utf8.contains(0) else {
            throw StepFailure("\"file\" is empty", hint: "give the path of the file to send")
        }
        return try SourceFile.inspect(LocalSource.absolute(text, in: folders.document))
    }

    private func partSize(in context: StageContext<UploadCheckpoint>) async throws(StageFailure) -> Int64 {
        max(1, try await context.value(of: partSize))
    }
}
