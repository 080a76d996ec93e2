import CLibrary
import HTTPTypes
import PipelineCore
import PipelineHTTP

extension DownloadRun {
    /// Length of the first request of a download in several streams: it tells whether there are ranges, and how long
    /// the file is.
    static let probeLength: Int64 = 256 << 10

    /// True if what is missing may come in several streams: the length is known, and so is what tells versions apart.
    var canUseRanges: Bool {
        guard order.streams > 1, part != nil, let total = checkpoint.total, checkpoint.held < total else {
            return false
        }
        return session().asksForRest
    }

    /// Receives all that lies behind the prefix, in as many streams at a time as are worth it.
    ///
    /// What each stream has received is committed together, after it is on the disk. A stream that fails ends the
    /// others: all go on from the map.
    mutating func fetchRanges() async throws(StageFailure) -> DownloadStep {
        guard let part, let path = checkpoint.target, let total = checkpoint.total else {
            throw order.definite("the download has no part")
        }
        let known = checkpoint.covered
        let (map, hashers) = try order.provenRanges(of: part, total, checkpoint, notes)
        let now = context
        let progress = RangeProgress(
            map, front: RangeProgress.Front(position: checkpoint.held, digests: digests), hashers: hashers,
            unit: PartNotes.unit(for: total))
        let gauge = ThroughputMonitor(
            ConcurrencyController(
                .receiving, most: order.streams, of: total, width: checkpoint.streams, now: context.now)
        ) { now.now }
        gauge.connected(over: roundTrip)
        var counted = min(known, progress.covered)
        if progress.covered > counted { try await keep(progress, gauge, part, &counted) }
        notes = []
        try order.reading { () throws(FileFailure) in if part.size < total { try part.truncate(to: total) } }
        gauge.begin(at: progress.covered)
        let marks = ProgressTicker(from: progress.covered, part: Self.partSize) { now.now }
        let crew = RangeDownloader(
            stream: RangeStream(
                order: order, part: part,
                notes: PartNotes(part, behind: total, of: order.owner(of: checkpoint.validator)),
                progress: progress, marks: marks, gauge: gauge, session: session()),
            progress: progress, gauge: gauge)
        let end = try await marks.during {
            await crew.receive()
        } onWakeUp: { () async throws(StageFailure) in
            try await keep(progress, gauge, part, &counted)
        }
        switch end {
        case .restart(let reason): return .restart(reason)
        case .failed(let failure):
            try await keep(progress, gauge, part, &counted)
            throw failure
        case .whole(let response, let rendered):
            try await keep(progress, gauge, part, &counted)
            return try joined(progress, part, path, total, (response, rendered))
        case nil: return try joined(progress, part, path, total, nil)
        }
    }

    /// Makes what has arrived durable, and counts it. Whole pieces behind the prefix become part of it.
    private mutating func keep(
        _ progress: RangeProgress, _ gauge: ThroughputMonitor, _ part: PartFile, _ counted: inout Int64
    ) async throws(StageFailure) {
        let seen = progress.snapshot
        guard seen.covered != counted || checkpoint.ranges == nil else { return }
        try order.reading { () throws(FileFailure) in try part.syncData() }
        // Only what was there before it was saved.
        let front = try order.extended(seen.front, to: seen.map.front(from: seen.front.position), part)
        if front.position > seen.front.position { progress.advance(to: front) }
        take(front)
        checkpoint.ranges = RangeMap(pieces: seen.map.behind(front.position))
        checkpoint.streams = gauge.proven
        context.count(BytesMoved(received: max(0, seen.covered - counted)))
        counted = max(counted, seen.covered)
        try await commit(lasts: true)
        context.pass(.downloadPart)
    }

    private mutating func take(_ front: RangeProgress.Front) {
        digests = front.digests
        checkpoint.held = front.position
        checkpoint.heldDigest = front.digests.proof
    }

    /// All pieces are there: the file is one again, and its digest that of the whole.
    private mutating func joined(
        _ progress: RangeProgress, _ part: PartFile, _ path: String, _ total: Int64,
        _ last: (HTTPExchangeResponse, RenderedRequest)?
    ) throws(StageFailure) -> DownloadStep {
        take(try order.extended(progress.snapshot.front, to: total, part))
        checkpoint.ranges = nil
        // Nothing was left to fetch: the answer that captures are taken from says that there is nothing more.
        guard let (response, rendered) = last else { return .more }
        let answer = order.requests.answer(of: response).with(body: try order.smallBody(part, total))
        return .whole(
            DownloadArrival(
                part: part, path: path, bytes: total, digests: digests, answer: answer, rendered: rendered,
                retryAfter: response.retryAfter(now: context.now)))
    }
}
