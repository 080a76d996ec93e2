import Crypto
import HTTPTypes
import PipelineCore
import PipelineHTTP

extension DownloadRun {
    /// Length of the first request of a download in several streams: it tells whether there are ranges, and how long
    /// the file is.
    static let probeLength: Int64 = 1 << 20

    /// Whether what is missing may come in several streams: the length is known, and so is what tells versions apart.
    var canUseRanges: Bool {
        guard streams > 1, part != nil, let total = checkpoint.total, checkpoint.held < total else { return false }
        return session().asksForRest
    }

    /// Receives all that lies behind the prefix, at most so many pieces at a time.
    ///
    /// What each stream has received is committed together, after it is on the disk. A stream that fails ends the
    /// others: all go on from the map.
    mutating func fetchRanges() async throws(StageFailure) -> Step {
        guard let part, let path = checkpoint.target, let total = checkpoint.total else {
            throw definite("the download has no part")
        }
        try reading(part.path) { () throws(FileFailure) in if part.size != total { try part.truncate(to: total) } }
        let (map, hashers) = try takeUpRanges(part, total)
        let progress = RangeProgress(map, hashers: hashers)
        let now = context
        let marks = TransferMarks(from: checkpoint.held + map.covered, part: Self.partSize) { now.now }
        let stream = RangeStream(
            run: self, part: part, progress: progress, marks: marks, session: session(), prefix: checkpoint.held)
        let waiting = map.pieces.enumerated().filter { !$0.element.isWhole }
        let limit = streams
        var counted = map.covered
        let end = try await marks.during {
            await Self.receive(waiting.map { ($0.offset, $0.element) }, by: stream, atMost: limit)
        } onWakeUp: { () async throws(StageFailure) in
            try await keep(progress.map, part, &counted)
        }
        switch end {
        case .restart(let reason): return .restart(reason)
        case .failed(let failure):
            try await keep(progress.map, part, &counted)
            throw failure
        case .whole(let response, let rendered):
            try await keep(progress.map, part, &counted)
            return try await joined(part, path, total, (response, rendered))
        case nil: return try await joined(part, path, total, nil)
        }
    }

    /// The end of the last stream, or of the first that did not succeed; nil when there was nothing to receive.
    private static func receive(
        _ pieces: [(Int, RangeMap.Piece)], by stream: RangeStream, atMost limit: Int
    ) async -> RangeStream.End? {
        await withTaskGroup(of: RangeStream.End.self) { group in
            var rest = pieces[...]
            for _ in 0..<limit {
                guard let (index, piece) = rest.popFirst() else { break }
                group.addTask { await stream.receive(piece, at: index) }
            }
            var last: RangeStream.End?
            while let end = await group.next() {
                guard case .whole = end else {
                    // What the others say after this is only that they were stopped.
                    group.cancelAll()
                    for await _ in group {}
                    return end
                }
                last = end
                if let (index, piece) = rest.popFirst() { group.addTask { await stream.receive(piece, at: index) } }
            }
            return last
        }
    }

    /// The map of an earlier try, of which only what is provably still there counts; a new one otherwise.
    private func takeUpRanges(_ part: PartFile, _ total: Int64) throws(StageFailure) -> (RangeMap, [SHA256]) {
        var map = RangeMap(from: checkpoint.held, to: total, streams: streams)
        if let known = checkpoint.ranges, known.pieces.first?.start == checkpoint.held, known.pieces.last?.end == total
        {
            map = known
        }
        var hashers: [SHA256] = []
        for (index, piece) in map.pieces.enumerated() {
            var hasher = SHA256()
            if piece.done > 0 {
                let isThere = try reading(part.path) { () throws(FileFailure) in
                    try part.feed(piece.start..<piece.position, to: &hasher)
                }
                if !isThere || hasher.finalize().hex != piece.digest {
                    map.pieces[index].done = 0
                    map.pieces[index].digest = nil
                    hasher = SHA256()
                }
            }
            hashers.append(hasher)
        }
        return (map, hashers)
    }

    /// Makes what has arrived durable, and counts it.
    private mutating func keep(_ map: RangeMap, _ part: PartFile, _ counted: inout Int64) async throws(StageFailure) {
        guard map != checkpoint.ranges else { return }
        try reading(part.path) { () throws(FileFailure) in try part.syncData() }
        checkpoint.ranges = map
        checkpoint.uncounted += map.covered - counted
        counted = map.covered
        try await commit(countsBytes: true)
        context.pass(.downloadPart)
    }

    /// All pieces are there: the file is one again, and its digest that of the whole.
    private mutating func joined(
        _ part: PartFile, _ path: String, _ total: Int64, _ last: (HTTPExchangeResponse, RenderedRequest)?
    ) async throws(StageFailure) -> Step {
        var hasher = SHA256()
        let isThere = try reading(part.path) { () throws(FileFailure) in try part.feed(total, to: &hasher) }
        guard isThere else { return .restart("the part is shorter than it was") }
        let digest = hasher.finalize().hex
        take(whole: hasher, digest, length: total)
        // Nothing was left to fetch: the answer that captures are taken from says that there is nothing more.
        guard let (response, rendered) = last else { return .more }
        let answer = Answer(
            status: response.status, headers: response.headers.map { ($0.name.rawName, $0.value) }, url: response.url,
            body: try smallBody(part, total))
        return .whole(
            Arrival(part: part, path: path, bytes: total, sha256: digest, answer: answer, rendered: rendered))
    }
}

extension PartFile {
    /// Reads a stretch into a digest; false when the file ends before it does.
    func feed(_ stretch: Range<Int64>, to hasher: inout some HashFunction) throws(FileFailure) -> Bool {
        let length = Int64(stretch.count)
        return try FileDigest.feed(descriptor, path, from: stretch.lowerBound, length: length, to: &hasher) == length
    }
}
