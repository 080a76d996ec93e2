import HTTPTypes
import PipelineCore

extension UploadAttempt {
    /// The session that goes on from a checkpoint.
    func session(from checkpoint: UploadCheckpoint) -> any UploadSession {
        let total = source.size
        var upload = OpenUpload()
        switch checkpoint.phase {
        case .open(let known): upload = known
        case .filled(let url): upload.url = url
        case .pending, .parts, .overtaken: break
        }
        switch stage.mode {
        case .resumable: return resumable(checkpoint, upload)
        case .tus:
            return TusSession(
                total: total, chunk: chunk(checkpoint, isPaced: true), isGiven: definition.method == .patch,
                url: upload.url, confirmed: checkpoint.progress.confirmed, mayBeComplete: upload.mayBeComplete,
                offer: checkpoint.terms.offer)
        case .gcs:
            return GoogleSession(
                total: total, chunk: chunk(checkpoint, granularity: GoogleSession.granularity),
                isGiven: definition.method == .put, url: upload.url, confirmed: checkpoint.progress.confirmed,
                mayBeComplete: upload.mayBeComplete)
        case .put where stage.offersResumption:
            return ResumableSession(offering: total, chunk: chunk(checkpoint))
        case .put, .multipart, .s3, .parts, .auto:
            return WholeSession(isForm: stage.mode == .multipart, total: total)
        }
    }

    private func chunk(
        _ checkpoint: UploadCheckpoint, granularity: Int64 = 1, isPaced: Bool = false
    ) -> UploadChunk {
        UploadChunk(
            most: checkpoint.terms.chunk, safe: checkpoint.terms.safeChunk, part: partSize, granularity: granularity,
            handedOver: checkpoint.progress.handedOver, isPaced: isPaced)
    }

    private func resumable(_ checkpoint: UploadCheckpoint, _ upload: OpenUpload) -> ResumableSession {
        let (terms, chunk) = (checkpoint.terms, chunk(checkpoint))
        let version = terms.version ?? .newest
        guard let url = upload.url else {
            // As long as no URL is known a lost response can only be reconciled by "once", or by a method that does the
            // same when it is repeated.
            let isHarmless = definition.method == .put || definition.once != nil
            return ResumableSession(
                total: source.size, version: version, isVersionSettled: terms.version != nil,
                isOptimistic: isHarmless && source.size <= chunk.part && terms.refusesBytes != true, chunk: chunk)
        }
        return ResumableSession(
            total: source.size, version: version, url: url, confirmed: checkpoint.progress.confirmed,
            mayBeComplete: upload.mayBeComplete, chunk: chunk)
    }
}
