/// The streams of one download: as many at a time as are worth it, until no piece is missing.
struct RangeDownloader: Sendable {
    private enum Event: Sendable {
        case changed
        case ended(start: Int64, RangeStream.End)
    }

    let stream: RangeStream
    let progress: RangeProgress
    let gauge: ThroughputMonitor

    /// The end of the last stream, or of the first that did not succeed; nil when there was nothing to receive.
    func receive() async -> RangeStream.End? {
        await withTaskGroup(of: Event.self) { group in
            /// By their pieces, in the order in which they began.
            var running: [Int64] = []
            var last: RangeStream.End?
            group.addTask { await changed() }
            while true {
                while running.count < gauge.width,
                    let piece = progress.begin(length(running.count), streams: gauge.width)
                {
                    group.addTask { .ended(start: piece.start, await stream.receive(piece.start)) }
                    running.append(piece.start)
                }
                guard !running.isEmpty, let event = await group.next() else { break }
                switch event {
                case .changed:
                    // What one stream had for itself is shared once others are worth it, from its front on: so the
                    // digest of the whole can run behind them.
                    if gauge.proven > 1, let reach = gauge.reach { progress.shorten(to: reach) }
                    if running.count > gauge.width {
                        let idle = progress.giveBack(running[gauge.width...])
                        running.removeAll(where: idle.contains)
                    }
                    if !Task.isCancelled { group.addTask { await changed() } }
                case .ended(let start, let end):
                    progress.leave(start)
                    // How one ends that gave its piece back is of no interest.
                    guard let index = running.firstIndex(of: start) else { continue }
                    running.remove(at: index)
                    last = end
                    guard case .whole = end else {
                        // What the others say after this is only that they were stopped.
                        group.cancelAll()
                        for await _ in group {}
                        return end
                    }
                }
            }
            group.cancelAll()
            return last
        }
    }

    /// Returns what the next stream receives: all there is while it is the only one, so that no request ends before the
    /// file; little while it is only tried, as what lies at the end of the file is to be read once more.
    private func length(_ running: Int) -> Int64? {
        if running == 0, gauge.proven == 1 { return nil }
        return (running < gauge.proven ? gauge.reach : gauge.trialReach) ?? .max
    }

    private func changed() async -> Event {
        await gauge.change()
        return .changed
    }
}
