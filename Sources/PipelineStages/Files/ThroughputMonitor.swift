import PipelineCore
import PipelineHTTP
import Synchronization

/// Shows a pace what the streams of a transfer report, and wakes whoever starts streams when their number changes.
final class ThroughputMonitor: Sendable {
    private let pace: Mutex<ConcurrencyController>
    private let changes: AsyncStream<Void>
    private let source: AsyncStream<Void>.Continuation
    private let now: @Sendable () -> Timestamp

    init(_ pace: ConcurrencyController, now: @escaping @Sendable () -> Timestamp) {
        (changes, source) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        self.pace = Mutex(pace)
        self.now = now
    }

    /// Says how many bytes were there before; to be called before anything moves.
    func begin(at total: Int64) { pace.withLock { $0.begin(at: total, now: now()) } }

    /// Notes how many bytes all streams have moved so far; from any thread.
    func note(_ total: Int64) {
        let time = now()
        change { $0.note(total, at: time) }
    }

    /// Takes in how long a round trip of the path takes; from any thread.
    func connected(over roundTrip: Duration) { change { $0.connected(over: roundTrip) } }

    /// Takes in for how much of the time of a part its stream had nothing more to send; from any thread.
    func sentPart(_ timings: ExchangeTimings) {
        change { $0.sentPart(in: .seconds(timings.total), silentFor: .seconds(timings.total - timings.sent)) }
    }

    private func change(_ change: (inout ConcurrencyController) -> Void) {
        let hasChanged = pace.withLock { pace in
            let before = (pace.width, pace.proven)
            change(&pace)
            return before != (pace.width, pace.proven)
        }
        if hasChanged { source.yield() }
    }

    /// The number of streams that may be under way.
    var width: Int { pace.withLock(\.width) }
    /// The number that were worth it so far.
    var proven: Int { pace.withLock(\.proven) }

    /// The number of bytes that one stream moves in some windows of time; nil while that is not known.
    var reach: Int64? { reach(windows: Self.windows) }

    /// The number of bytes for a stream of which it is not known whether it is worth it: enough to find that out.
    var trialReach: Int64? { reach(windows: Self.trialWindows).map { max($0, Self.leastTrial) } }

    private func reach(windows: Double) -> Int64? {
        pace.withLock { pace in
            pace.rate.map { Int64($0 / Double(pace.proven) * pace.window.seconds * windows) }
        }
    }

    /// A request costs a round trip in which nothing moves: with so many windows it costs a few hundredths.
    private static let windows = 8.0
    private static let trialWindows = 1.0
    /// More than many services give to each request at once before they limit it (nginx: two mebibytes).
    private static let leastTrial: Int64 = 4 << 20

    /// Returns when the number has changed since the last call, or the task is cancelled.
    func change() async {
        for await _ in changes { return }
    }
}
