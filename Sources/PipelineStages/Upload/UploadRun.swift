import HTTPTypes
import JSONPath
import PipelineCore
import PipelineHTTP

/// One try of an upload: the loop around its session.
struct UploadRun {
    @Indirect private(set) var stage: UploadStage
    let context: StageContext<UploadCheckpoint>
    let source: SourceFile
    let partSize: Int64
    var checkpoint: UploadCheckpoint
    var session: UploadSession
    /// Of what is sent; nil for protocols that begin again, or send parts in any order.
    let digest: UploadDigest?
    /// How long an answer takes to begin, as far as a connection that was made has shown it.
    var roundTrip = Duration.zero
    /// What the journal has; nil when nothing that this try could go on from.
    private(set) var committed: UploadCheckpoint?
    private var committedAt: Timestamp
    private var hasPassedCreation: Bool

    var requests: StageRequests { stage.requests.requests }

    init(
        stage: UploadStage, context: StageContext<UploadCheckpoint>, source: SourceFile, partSize: Int64,
        checkpoint: UploadCheckpoint, committed: UploadCheckpoint? = nil, session: UploadSession
    ) {
        self.stage = stage
        self.context = context
        self.source = source
        self.partSize = partSize
        self.checkpoint = checkpoint
        self.committed = committed
        self.session = session
        digest = stage.mode.goesOnAtOffset ? UploadDigest(source, checkpoint.digest) : nil
        committedAt = context.now
        hasPassedCreation = checkpoint.url != nil
    }

    /// Sends what the session wants until it has an end.
    mutating func perform() async throws(StageFailure) -> StageOutcome<UploadCheckpoint> {
        if let complete = stage.complete, checkpoint.isFilled { return try await end(with: complete) }
        if stage.mode.startsAgain, stage.requests.definition.once != nil, stage.complete == nil {
            return try await performOnce()
        }
        // All bytes were sent, and where they went is not known.
        if stage.mode.goesOnAtOffset, checkpoint.url == nil, isAnswerLost, session.canBeMadeAnew {
            return try await settleLost()
        }
        // A file of one part needs no parts; one that was begun in parts goes on in them.
        if let parts = stage.parts {
            let isOnePart = source.size <= PartTable.storagePartSize(for: source.size, wanted: partSize)
            if stage.mode == .parts || checkpoint.parts != nil { return try await performParts(parts) }
            // A URL that was signed beforehand is for one PUT, and for nothing else.
            if !isOnePart, try await !isPresigned() { return try await performParts(parts) }
        }
        var step = session.begin()
        var last: (response: HTTPExchangeResponse, rendered: RenderedRequest)?
        while true {
            switch step {
            case .send(let request):
                try await commitBeforeSending(request)
                try await takeUpDigest(for: request)
                let rendered = try await rendered(request)
                let response = try await exchange(request, rendered)
                last = (response, rendered)
                step = session.next(after: located(response, after: request))
                try await commitFacts()
            case .done:
                guard let last else { throw .definite(StepFailure("the upload ended before it began")) }
                return try await finish(last.response, last.rendered)
            case .fail(.gone) where isAnswerLost:
                if let last, let failure = try await doubt(last.response, last.rendered) { throw failure }
                return try await settleLost()
            case .fail(let failure):
                throw try await end(failure, last?.response, last?.rendered)
            }
        }
    }

    private mutating func rendered(_ request: UploadRequest) async throws(StageFailure) -> RenderedRequest {
        do throws(StageFailure) {
            return try await stage.requests.render(request, of: source, in: context)
        } catch {
            // Bytes that are read for a checksum may already be those of another file.
            if source.hasChanged { throw await endAsChanged() }
            throw error
        }
    }

    /// Whether the URL of the author's request carries its signature (AWS Signature 4 in the query).
    private func isPresigned() async throws(StageFailure) -> Bool {
        let whole = UploadRequest(purpose: .whole, body: .file(offset: 0, count: source.size))
        let request = try await stage.requests.render(whole, of: source, in: context).description
        return request.query.contains { $0.name == "X-Amz-Signature" } || request.url.contains("X-Amz-Signature=")
    }

    /// The answer to a creation with the upload's address, wherever the author says that it stands, as `Location`.
    private func located(_ response: HTTPExchangeResponse, after request: UploadRequest) -> HTTPExchangeResponse {
        guard request.purpose == .create, let selector = stage.location else { return response }
        var response = response
        let value = selector.lenientValue(in: requests.answer(of: response))
        if case .string(let text) = value {
            response.headers[.location] = text
        } else {
            response.headers[.location] = nil
        }
        return response
    }

    /// Whether an upload that is gone may be one that was complete, and `once` can tell.
    private var isAnswerLost: Bool {
        checkpoint.mayBeComplete && stage.requests.definition.once != nil && stage.complete == nil
    }

    // MARK: Commits

    /// What must be on the disk before a request goes out: the fingerprint, before any byte of the file; and that the
    /// answer may be the last, so that a restart knows.
    ///
    /// An upload of one small request is spared all commits but the first: nothing can be spliced there, and a source
    /// that changes before the next try is noticed all the same.
    mutating func commitBeforeSending(_ request: UploadRequest) async throws(StageFailure) {
        noteSession()
        if !isSparing { return try await commitFacts() }
        if committed == nil { try await commit(countsBytes: false) }
    }

    /// Takes over what a restart needs of the session and of the digest.
    mutating func noteSession() {
        session.note(in: &checkpoint)
        if let lifetime = session.takeLifetime() { checkpoint.keptUntil = lifetime.end(at: context.now) }
        if let digest, checkpoint.url != nil { checkpoint.digest = digest.checkpoint(confirmed: checkpoint.confirmed) }
    }

    var isSparing: Bool { stage.mode.startsAgain && source.size <= partSize }

    /// Commits what a restart rests on, if that has changed.
    mutating func commitFacts() async throws(StageFailure) {
        let before = checkpoint.confirmed
        noteSession()
        guard checkpoint != committed, !isSparing else { return }
        let hasProgress = checkpoint.confirmed > max(before, committed?.confirmed ?? 0)
        try await commit(countsBytes: hasProgress)
        if checkpoint.url != nil, !hasPassedCreation {
            hasPassedCreation = true
            context.pass(.uploadCreated)
        }
    }

    /// Whether a commit of progress has been away for long enough.
    var isCommitDue: Bool { context.now - committedAt >= ProgressTicker.interval }

    mutating func commit(countsBytes: Bool) async throws(StageFailure) {
        let moved = countsBytes ? BytesMoved(sent: checkpoint.uncounted) : BytesMoved()
        if countsBytes {
            checkpoint.uncounted = 0
            // Something came of it: what is counted in a row begins anew.
            (checkpoint.held, checkpoint.doubts) = (nil, nil)
        }
        context.mustAct(before: checkpoint.keptUntil)
        try await context.commit(checkpoint, moved: moved)
        committed = checkpoint
        committedAt = context.now
    }
}
