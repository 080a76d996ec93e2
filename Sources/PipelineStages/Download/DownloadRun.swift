import HTTPTypes
import JSONPath
import PipelineCore
import PipelineHTTP

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// One try of a download.
struct DownloadRun {
    static let partSize: Int64 = 8 << 20

    @Indirect private(set) var stage: DownloadStage
    let context: StageContext<DownloadCheckpoint>
    let place: OutputPath
    var checkpoint: DownloadCheckpoint
    let wanted: VerifyDefinition.Values
    /// Whether an existing file may be replaced.
    let replaces: Bool
    /// How many ranges may come at a time.
    let streams: Int
    /// The statuses that count as success; nil for the usual ones.
    let expected: StatusSet?
    /// Whether the next request asks for the first bytes alone, to find out whether there are ranges.
    private var probes: Bool
    /// Whether a file that has the name already is known to be another one: what comes is kept as a part all the same.
    private var isTaken = false
    /// The file being received, open and locked.
    var part: PartFile?
    /// How long an answer takes to begin, as far as a connection that was made has shown it.
    private(set) var roundTrip = Duration.zero
    /// The running digests of the first `checkpoint.held` bytes.
    var digests = RunningDigests()
    private var committed: DownloadCheckpoint?

    var requests: StageRequests { stage.requests }

    init(
        stage: DownloadStage, context: StageContext<DownloadCheckpoint>, place: OutputPath,
        checkpoint: DownloadCheckpoint, wanted: VerifyDefinition.Values, replaces: Bool, streams: Int = 1,
        expected: StatusSet? = nil
    ) {
        self.stage = stage
        self.context = context
        self.place = place
        self.checkpoint = checkpoint
        self.wanted = wanted
        self.replaces = replaces
        self.streams = streams
        self.expected = expected
        probes = streams > 1
    }

    mutating func perform() async throws(StageFailure) -> StageOutcome<DownloadCheckpoint> {
        if let unpack = stage.unpack { try checkTarget(of: unpack) }
        if let verified = checkpoint.verified, let outcome = try await resumeNaming(verified) { return outcome }
        if stage.unpack == nil, let outcome = try await recognise() { return outcome }
        try takeUpPart()
        var restarts = 0
        while true {
            let before = checkpoint.held
            switch try await canUseRanges ? fetchRanges() : exchange() {
            case .whole(let arrival): return try await verify(arrival)
            case .more:
                guard checkpoint.held > before else {
                    throw definite("the service sends ranges without a byte in them")
                }
            case .restart(let reason):
                restarts += 1
                probes = false
                guard restarts <= 2 else { throw definite("the download can't go on: \(reason)") }
                startAgain()
            case .identical(let outcome): return outcome
            case .taken: isTaken = true
            }
        }
    }

    /// A whole file, received and not yet checked.
    struct Arrival: Sendable {
        let part: PartFile
        let path: String
        let bytes: Int64
        let digests: RunningDigests
        let answer: Answer
        let rendered: RenderedRequest
    }

    /// What became of one exchange, or of several at a time.
    enum Step {
        case whole(Arrival)
        case more
        case restart(String)
        case identical(StageOutcome<DownloadCheckpoint>)
        /// A different file has the name; nothing was received.
        case taken
    }

    // MARK: Before the first request

    /// A file that has the name already ends the download at once, if it is known to be the one that is wanted. Any
    /// other is found to be different when the download has come, which then waits as a part.
    private mutating func recognise() async throws(StageFailure) -> StageOutcome<DownloadCheckpoint>? {
        guard let path = checkpoint.target else { return nil }
        var status = stat()
        guard lstat(path, &status) == 0 else { return nil }
        if status.st_mode & S_IFMT == S_IFDIR {
            throw definite("\(path) is a folder", hint: "end \"to\" with '/' to write into it")
        }
        guard !replaces, let digest = wanted.digest, stage.definition.capture.isEmpty else { return nil }
        let outcome = try await identical(path, by: [digest])
        isTaken = outcome == nil
        return outcome
    }

    /// The outcome for an existing file that is the one wanted; nil for any other.
    private func identical(
        _ path: String, by digests: [StatedDigest]
    ) async throws(StageFailure) -> StageOutcome<DownloadCheckpoint>? {
        guard !digests.isEmpty else { return nil }
        let actual = try reading(path) { () throws(FileFailure) in try FileDigest.digests(of: path, for: digests) }
        guard digests.allSatisfy({ actual.hex($0.algorithm) == $0.hex }) else { return nil }
        var status = stat()
        _ = stat(path, &status)
        let verified = DownloadCheckpoint.Verified(bytes: Int64(status.st_size), sha256: actual.sha256)
        try await context.commit(file: WrittenFile(path: path, bytes: verified.bytes, sha256: verified.sha256))
        return .finished(standardCaptures(path, verified))
    }

    func exists(_ path: String, _ what: String) -> StageFailure {
        definite(
            "\(what) is at \(path) already, and is not replaced",
            hint: "\"overwrite\": true or --overwrite replaces it; or choose another \"to\"")
    }

    /// Opens the part of an earlier try and reads what it holds; what is not provably ours is thrown away.
    private mutating func takeUpPart() throws(StageFailure) {
        guard let path = checkpoint.partPath else { return }
        let session = session()
        guard session.asksForRest else { return startAgain() }
        guard let part = try openExisting(path) else { return startAgain() }
        self.part = part
        var found = RunningDigests(for: wanted.stated + checkpoint.stated)
        let isLongEnough = try reading(path) { () throws(FileFailure) in
            try part.read(0..<checkpoint.held) { found.update($0) }
        }
        digests = found
        if !isLongEnough || found.sha256 != checkpoint.heldDigest { startAgain() }
    }

    /// Throws away what is there. The part gets a new file once there is something to put in, so that whoever else
    /// knows the old one is not misled.
    mutating func startAgain() {
        let target = checkpoint.target
        checkpoint.startAgain()
        checkpoint.target = target
        digests = RunningDigests()
        part?.remove()
        part = nil
    }

    /// The part of an earlier try, locked; nil when it is gone.
    func openExisting(_ path: String) throws(StageFailure) -> PartFile? {
        do throws(PartFile.OpenFailure) {
            return try PartFile.open(path, isFresh: false, creates: false)
        } catch {
            switch error {
            case .busy: throw busy(path)
            case .file(let failure):
                if failure.code == ENOENT { return nil }
                throw local(failure)
            }
        }
    }

    // MARK: One request

    func session() -> DownloadSession {
        let expected = expected
        return DownloadSession(
            held: checkpoint.held, validator: checkpoint.validator, total: checkpoint.total,
            hasFinalDigest: wanted.digest != nil || !checkpoint.stated.isEmpty,
            allowsRanges: stage.definition.method == .get,
            expected: { status in expected?.contains(status) ?? (status == 200 || status == 203) })
    }

    private mutating func exchange() async throws(StageFailure) -> Step {
        var session = session()
        if probes, session.held == 0 { session.limit = Self.probeLength }
        var rendered = try await requests.render(stage.definition, in: context)
        for field in session.fields { rendered.description.headers[field.name] = field.value }
        let (context, requests) = (context, requests)
        let receiver = DownloadReceiver(
            session, marks: TransferMarks(from: session.held, part: Self.partSize) { context.now }, place: place,
            url: rendered.description.url, comparesExisting: !replaces && !isTaken && stage.unpack == nil,
            wanted: wanted, checkpoint: checkpoint, part: part, digests: digests
        ) { context.now }
        let sink = receiver.sink { received, total in
            context.report(.transfer(sent: 0, received: received, total: total))
        }
        var passage = Passage()
        let result = try await receiver.marks.during { [rendered] in
            await requests.send(rendered, in: context) { options in
                options.receive = sink
                // A process that was stopped before has perhaps lost the job, whose file may be there by now: a part
                // of its own would lie beside it for ever.
                options.mayBegin = { context.isOwner }
            }
        } onWakeUp: { () async throws(StageFailure) in
            try await keep(receiver.snapshot, &passage)
        }
        let snapshot = receiver.snapshot
        part = snapshot.part ?? part
        switch result {
        case .failure(let failure):
            try await keep(snapshot, &passage)
            throw end(failure, rendered, at: snapshot.path)
        case .success(let response): return try await step(after: response, snapshot, rendered, &passage)
        }
    }

    private mutating func step(
        after response: HTTPExchangeResponse, _ snapshot: DownloadReceiver.Snapshot, _ rendered: RenderedRequest,
        _ passage: inout Passage
    ) async throws(StageFailure) -> Step {
        switch snapshot.outcome {
        case .none: throw definite("the answer had no head")
        case .restart(let reason): return .restart(reason)
        case .answer: throw await refusal(response, rendered)
        case .busy(let path): throw busy(path)
        case .failed(let failure): throw local(failure)
        case .lackOfRoom(let lack, let path): throw noRoom(lack, path)
        case .exists(let path):
            return try await identical(path, by: wanted.stated + snapshot.stated).map { .identical($0) } ?? .taken
        case .received, .nothingMore:
            guard let part = snapshot.part, let path = snapshot.path else { throw definite("the answer had no file") }
            let trailing = StatedDigest.stated(in: response.trailers, isWhole: response.status != 206)
            try await keep(snapshot, &passage, isEnd: true)
            checkpoint.stated += trailing.filter { !checkpoint.stated.contains($0) }
            roundTrip = .seconds(max(0, response.timings.connect - response.timings.nameLookup))
            if let total = snapshot.total, snapshot.position < total {
                // A server may send less than the range that was asked for.
                digests = snapshot.digests
                return .more
            }
            let answer = Answer(
                status: response.status, headers: response.headers.map { ($0.name.rawName, $0.value) },
                url: response.url, body: try smallBody(part, snapshot.position))
            return .whole(
                Arrival(
                    part: part, path: path, bytes: snapshot.position, digests: snapshot.digests, answer: answer,
                    rendered: rendered))
        }
    }

    /// The body for the author's captures, if there are any and it is not large.
    func smallBody(_ part: PartFile, _ size: Int64) throws(StageFailure) -> [UInt8] {
        guard !stage.definition.capture.isEmpty, (1...1 << 20).contains(size) else { return [] }
        return [UInt8](unsafeUninitializedCapacity: Int(size)) { buffer, count in
            count = max(0, pread(part.descriptor, buffer.baseAddress, Int(size), 0))
        }
    }

    /// Makes what has arrived durable, counts it, and passes the marks behind it.
    private mutating func keep(
        _ snapshot: DownloadReceiver.Snapshot, _ passage: inout Passage, isEnd: Bool = false
    ) async throws(StageFailure) {
        guard let part = snapshot.part, case .received = snapshot.outcome else { return }
        try reading(part.path) { () throws(FileFailure) in try part.syncData() }
        checkpoint.target = snapshot.path
        checkpoint.held = snapshot.position
        checkpoint.heldDigest = snapshot.digests.sha256
        checkpoint.validator = snapshot.validator
        checkpoint.total = snapshot.total
        checkpoint.stated = snapshot.stated
        checkpoint.uncounted += snapshot.position - max(snapshot.start, passage.counted)
        passage.counted = snapshot.position
        // The end is committed with the verdict on it.
        if !isEnd { try await commit(countsBytes: session().asksForRest) }
        passage.parts = max(passage.parts, snapshot.start)
        while passage.parts + Self.partSize <= snapshot.position {
            passage.parts += Self.partSize
            context.pass(.downloadPart)
        }
        if isEnd, passage.parts < snapshot.position { context.pass(.downloadPart) }
    }

    /// How far one exchange has come.
    private struct Passage {
        /// Up to where its bytes are in the checkpoint.
        var counted: Int64 = 0
        /// Up to where its marks are passed.
        var parts: Int64 = 0
    }

    mutating func commit(countsBytes: Bool, captures: JSONObject? = nil) async throws(StageFailure) {
        let moved = countsBytes ? BytesMoved(received: checkpoint.uncounted) : BytesMoved()
        if countsBytes { checkpoint.uncounted = 0 }
        guard checkpoint != committed || captures != nil else { return }
        try await context.commit(checkpoint, captures: captures, moved: moved)
        committed = checkpoint
    }
}
