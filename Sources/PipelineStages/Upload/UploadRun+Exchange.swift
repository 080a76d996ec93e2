import HTTPTypes
import PipelineCore
import PipelineHTTP

extension UploadRun {
    mutating func exchange(
        _ request: UploadRequest, _ rendered: RenderedRequest
    ) async throws(StageFailure) -> HTTPExchangeResponse {
        switch try await outcome(of: request, rendered) {
        case .success(let response): return response
        case .failure(let failure):
            if request.purpose == .create || request.purpose == .append, failure.lacksEnd(of: rendered) {
                session.takeBack()
                noteSession()
            }
            throw await end(failure, rendered)
        }
    }

    /// Sends one request, keeps on the way what a restart rests on, and notices a file that changes meanwhile.
    mutating func outcome(
        of request: UploadRequest, _ rendered: RenderedRequest
    ) async throws(StageFailure) -> Result<HTTPExchangeResponse, ExchangeFailure> {
        let watch = watch(request, rendered)
        let url = rendered.description.url
        var passage = Passage(request, total: source.size, uncounted: checkpoint.uncounted)
        let (requests, context, digest) = (requests, context, digest)
        let result = try await watch.marks.during {
            await requests.send(rendered, in: context) { options in
                watch.attach(to: &options)
                if let digest, case .file(let start, _) = request.body {
                    options.onBody = { digest.take($0, at: start + $1) }
                }
            }
        } onWakeUp: { () async throws(StageFailure) in
            try await look(at: watch, url, &passage)
        }
        try await look(at: watch, url, &passage)
        guard passage.sendsFile else { return result }
        switch result {
        case .success(let response): checkpoint.uncounted = passage.uncounted(at: response.bytesSent)
        case .failure(let failure):
            checkpoint.uncounted = passage.uncounted(at: failure.requestBytesSent)
            if case .sourceChanged = failure.reason { throw await endAsChanged() }
        }
        if source.hasChanged { throw await endAsChanged() }
        return result
    }

    /// How far one request has come: for its marks, and for the bytes that it adds.
    private struct Passage {
        let sendsFile: Bool
        /// Whether the file's last byte is in it.
        let isLast: Bool
        private var base: Int64
        private var start: Int64 = 0
        var parts: Int64 = 0
        var hasPassedEnd = false

        init(_ request: UploadRequest, total: Int64, uncounted: Int64) {
            if case .file(let offset, let count) = request.body {
                isLast = offset + count == total
                sendsFile = true
            } else {
                isLast = true
                sendsFile = request.purpose == .append || request.purpose == .whole
            }
            base = uncounted
        }

        /// Bytes not yet counted when this request has come to a position.
        func uncounted(at position: Int64) -> Int64 { base + max(0, position - start) }

        /// What was handed over up to a position has been counted.
        mutating func count(to position: Int64) {
            base = 0
            start = position
        }
    }

    private func watch(_ request: UploadRequest, _ rendered: RenderedRequest) -> UploadWatch {
        let (context, total) = (context, source.size)
        let marks = ProgressTicker(from: 0, part: partSize) { context.now }
        var shift: Int64 = 0
        switch request.body {
        case .none, .empty: return UploadWatch(marks: marks) { _ in }
        case .file(let offset, _): shift = offset
        case .form: shift = total - rendered.description.body.length
        }
        return UploadWatch(marks: marks) { [shift] sent in
            context.report(.transfer(sent: min(total, max(0, sent + shift)), received: 0, total: total))
        }
    }

    /// Takes in what the transport saw, keeps what a restart rests on, and passes the marks behind it.
    private mutating func look(
        at watch: UploadWatch, _ url: String, _ passage: inout Passage
    ) async throws(StageFailure) {
        for (status, headers) in watch.takeInformed() { session.take(informational: status, headers, from: url) }
        guard passage.sendsFile else { return }
        // Asked before the position: what was sent as a whole is then counted as a whole.
        let isSent = watch.isSent
        let position = watch.marks.position
        noteSession()
        checkpoint.uncounted = passage.uncounted(at: position)
        if checkpoint != committed, !isSparing, isCommitDue {
            let counts = checkpoint.confirmed > committed?.confirmed ?? 0
            try await commit(countsBytes: counts)
            if counts { passage.count(to: position) }
        }
        while passage.parts + partSize <= position {
            passage.parts += partSize
            context.pass(.uploadPart)
        }
        if isSent, passage.isLast, !passage.hasPassedEnd {
            passage.hasPassedEnd = true
            if position > passage.parts { context.pass(.uploadPart) }
            context.pass(.uploadSent)
        }
    }
}

extension ExchangeFailure {
    /// Whether the last byte of a request did not go out: without it no service can have accepted it, as the length
    /// stands in its head.
    func lacksEnd(of rendered: RenderedRequest) -> Bool {
        !connectionMade || requestBytesSent < requestBodyLength ?? rendered.description.body.length
    }
}
