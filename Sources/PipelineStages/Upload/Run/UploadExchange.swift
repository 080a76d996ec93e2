import HTTPTypes
import PipelineCore
import PipelineHTTP

/// One request of an upload on its way: keeps what a restart rests on, and notices a file that changes meanwhile.
struct UploadExchange {
    let attempt: UploadAttempt
    let request: UploadRequest
    let rendered: RenderedRequest
    /// Takes in the bytes as they are read; nil for protocols that begin again.
    let digest: UploadDigest?
    private let sendsFile: Bool
    /// True when the file's last byte is in it.
    private let isLast: Bool
    /// Bytes that were handed over before, and from which position on this request's are new.
    private var handedOver: (base: Int64, start: Int64) = (0, 0)
    private var passedParts: Int64 = 0
    private var hasPassedEnd = false

    init(_ attempt: UploadAttempt, _ request: UploadRequest, _ rendered: RenderedRequest, _ digest: UploadDigest?) {
        self.attempt = attempt
        self.request = request
        self.rendered = rendered
        self.digest = digest
        if case .file(let offset, let count) = request.body {
            isLast = offset + count == attempt.source.size
            sendsFile = true
        } else {
            isLast = true
            sendsFile = request.purpose == .append || request.purpose == .whole
        }
    }

    /// Sends it once.
    mutating func perform(
        _ session: inout any UploadSession, _ writer: inout CheckpointWriter
    ) async throws(StageFailure) -> Result<HTTPExchangeResponse, ExchangeFailure> {
        handedOver = (writer.checkpoint.progress.handedOver, 0)
        let watch = watch()
        let (rendered, requests, context, digest) = (rendered, attempt.requests, attempt.context, digest)
        var start: Int64?
        if case .file(let offset, _) = request.body { start = offset }
        let result = try await watch.marks.during { [start] in
            await requests.send(rendered, in: context) { options in
                watch.attach(to: &options)
                if let digest, let start { options.onBody = { digest.take($0, at: start + $1) } }
            }
        } onWakeUp: { () async throws(StageFailure) in
            try await look(at: watch, &session, &writer)
        }
        try await look(at: watch, &session, &writer)
        guard sendsFile else { return result }
        note(result.bytesSent, &writer)
        var hasChanged = attempt.source.hasChanged
        if case .failure(let failure) = result, case .sourceChanged = failure.reason { hasChanged = true }
        if hasChanged {
            session.record(in: &writer.checkpoint)
            throw await attempt.endAsChanged(&writer)
        }
        return result
    }

    private func watch() -> UploadWatch {
        let (context, total) = (attempt.context, attempt.source.size)
        let marks = ProgressTicker(from: 0, part: attempt.partSize) { context.now }
        let shift: Int64
        switch request.body {
        case .none, .empty: return UploadWatch(marks: marks) { _ in }
        case .file(let offset, _): shift = offset
        case .form: shift = total - rendered.description.body.length
        }
        return UploadWatch(marks: marks) { sent in
            context.report(.transfer(sent: min(total, max(0, sent + shift)), received: 0, total: total))
        }
    }

    /// Counts the bytes that were handed over when the request has come to a position.
    private func note(_ position: Int64, _ writer: inout CheckpointWriter) {
        let handed = handedOver.base + max(0, position - handedOver.start)
        attempt.context.count(BytesMoved(sent: max(0, handed - writer.checkpoint.progress.handedOver)))
        writer.checkpoint.progress.handedOver = handed
    }

    /// Takes in what the transport saw, keeps what a restart rests on, and passes the crash points that follow it.
    private mutating func look(
        at watch: UploadWatch, _ session: inout any UploadSession, _ writer: inout CheckpointWriter
    ) async throws(StageFailure) {
        for (status, headers) in watch.takeInformed() {
            session.take(informational: status, headers, from: rendered.description.url)
        }
        guard sendsFile else { return }
        // Asked before the position: what was sent as a whole is then counted as a whole.
        let isSent = watch.isSent
        let position = watch.marks.position
        writer.record(&session, digest, now: attempt.context.now)
        note(position, &writer)
        if writer.checkpoint != writer.committed, !writer.isSparing, writer.isDue {
            let hasProgress = writer.checkpoint.progress.confirmed > writer.committed?.progress.confirmed ?? 0
            try await writer.commit(progressed: hasProgress)
            if hasProgress { handedOver = (0, position) }
        }
        pass(position, isSent)
    }

    private mutating func pass(_ position: Int64, _ isSent: Bool) {
        while passedParts + attempt.partSize <= position {
            passedParts += attempt.partSize
            attempt.context.pass(.uploadPart)
        }
        if isSent, isLast, !hasPassedEnd {
            hasPassedEnd = true
            if position > passedParts { attempt.context.pass(.uploadPart) }
            attempt.context.pass(.uploadSent)
        }
    }
}

extension CheckpointWriter {
    /// Takes over what a restart needs of a session and of the digest.
    mutating func record(_ session: inout any UploadSession, _ digest: UploadDigest?, now: Timestamp) {
        session.record(in: &checkpoint)
        if let lifetime = session.position.lifetime.take() { checkpoint.progress.keptUntil = lifetime.end(at: now) }
        guard let digest, case .open(var upload) = checkpoint.phase, upload.url != nil else { return }
        upload.digest = digest.checkpoint(confirmed: checkpoint.progress.confirmed)
        checkpoint.phase = .open(upload)
    }
}

extension ExchangeFailure {
    /// Returns whether the last byte of a request did not go out: without it no service can have accepted it, as the
    /// length stands in its head. One that says that it has is not told apart from what may stand before it.
    func lacksEnd(of rendered: RenderedRequest) -> Bool {
        if case .answeredEarly = reason { return false }
        return cannotHaveArrived || requestBytesSent < requestBodyLength ?? rendered.description.body.length
    }
}
