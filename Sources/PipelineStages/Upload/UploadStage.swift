import JSONPath
import PipelineCore
import PipelineHTTP

/// `upload`: sends a local file, and goes on where it was after an interruption if the protocol can.
struct UploadStage: Stage {
    let file: Template
    let mode: UploadProtocol
    let requests: UploadRequests
    /// How many bytes lie between two marks, and what a crash costs at most for protocols of parts.
    let partSize: Setting<Int64>

    func resume(
        from checkpoint: UploadCheckpoint?, in context: StageContext<UploadCheckpoint>
    ) async throws(StageFailure) -> StageOutcome<UploadCheckpoint> {
        let source = try await inspect(in: context)
        var checkpoint = checkpoint ?? UploadCheckpoint()
        let known = checkpoint.source
        checkpoint.source = source.fingerprint
        var run = UploadRun(
            stage: self, context: context, source: source, partSize: try await partSize(in: context),
            checkpoint: checkpoint, session: session(for: source, from: checkpoint))
        if let known, known != source.fingerprint { throw await run.endAsChanged() }
        return try await run.perform()
    }

    func cancel(
        from checkpoint: UploadCheckpoint?, in context: StageContext<UploadCheckpoint>
    ) async throws(StageFailure) {
        guard mode == .resumable, let checkpoint, checkpoint.url != nil else { return }
        let source = SourceFile(path: "", fingerprint: SourceFingerprint(size: 0, modified: 0, inode: 0))
        guard let request = session(for: source, from: checkpoint).cancellation else { return }
        let rendered = try await requests.render(request, of: source, in: context)
        // Whatever it answers: an upload that is gone is what was wanted, and more can't be done.
        if case .failure(let failure) = await requests.requests.send(rendered, in: context) {
            throw requests.requests.failure(failure, of: rendered, in: context)
        }
    }

    private func session(for source: SourceFile, from checkpoint: UploadCheckpoint) -> UploadSession {
        guard mode == .resumable else {
            return .whole(WholeSession(isForm: mode == .multipart, total: source.size))
        }
        let version = checkpoint.version ?? .newest
        guard let url = checkpoint.url else {
            return .resumable(
                ResumableSession(
                    total: source.size, version: version, isVersionSettled: checkpoint.version != nil))
        }
        return .resumable(
            ResumableSession(
                total: source.size, version: version, url: url, confirmed: checkpoint.confirmed,
                mayBeComplete: checkpoint.mayBeComplete))
    }

    private func inspect(in context: StageContext<UploadCheckpoint>) async throws(StageFailure) -> SourceFile {
        let text = try await context.evaluate { scope throws(EvaluationFailure) in try file.evaluateText(in: scope) }
        do throws(StepFailure) {
            guard !text.isEmpty, !text.utf8.contains(0) else {
                throw StepFailure("\"file\" is empty", hint: "give the path of the file to send")
            }
            return try SourceFile.inspect(LocalSource.absolute(text, in: context.facts.folders.document))
        } catch {
            var failure = error
            failure.place = context.facts.place
            throw .definite(failure)
        }
    }

    private func partSize(in context: StageContext<UploadCheckpoint>) async throws(StageFailure) -> Int64 {
        try await context.evaluate { scope throws(EvaluationFailure) in max(1, try partSize.value(in: scope)) }
    }
}
