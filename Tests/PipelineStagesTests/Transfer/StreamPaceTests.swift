import PipelineCore
import Synchronization
import Testing

@testable import PipelineStages

@Suite("How many streams at a time")
struct StreamPaceTests {
    /// A path on which each connection has a rate, and all together another, in bytes per second.
    private struct Path {
        var each: Double
        var all: Double
        /// How much of all is lost for each stream beyond the first.
        var cost = 0.0
        /// How far windows lie off, one after the other.
        var noise: [Double] = [1]
        /// How much faster a connection becomes with each window, at first.
        var start = 1.0
        /// How much faster all is in single windows.
        var bursts: [Int: Double] = [:]

        func rate(_ width: Int, _ turn: Int) -> Double {
            let grown = each * min(1, start == 1 ? 1 : Double(turn + 1) / start)
            let usual = min(grown * Double(width), all * (1 - cost * Double(width - 1))) * noise[turn % noise.count]
            return usual * (bursts[turn] ?? 1)
        }
    }

    /// The widths after each of so many windows.
    private func widths(
        _ path: Path, most: Int, windows: Int, width: Int? = nil,
        direction: ConcurrencyController.Direction = .receiving,
        total whole: Int64 = .max
    ) -> [Int] {
        let begin = Timestamp(milliseconds: 0)
        var pace = ConcurrencyController(direction, most: most, of: whole, width: width, now: begin)
        var total = 0.0
        return (0..<windows).map { turn in
            total += path.rate(pace.width, turn) / 10
            pace.note(Int64(total), at: begin + .milliseconds(100 * (turn + 1)))
            return pace.width
        }
    }

    @Test("grows to the most within a second where each connection is limited", arguments: [1, 2, 5, 8])
    func limited(most: Int) {
        for direction in [ConcurrencyController.Direction.receiving, .sending(part: 8 << 20)] {
            let widths = widths(Path(each: 1e7, all: 1e9), most: most, windows: 40, direction: direction)
            #expect(widths.allSatisfy { $0 <= most })
            #expect(widths.dropFirst(8).allSatisfy { $0 == most })
        }
    }

    /// nginx sends the first two mebibytes of each request at once: a trial seemed so fast that no other came near it.
    @Test("takes what a new stream has in store for no more than one stream can bring")
    func burst() {
        let widths = widths(Path(each: 1e7, all: 1e9, bursts: [2: 10]), most: 8, windows: 12)
        #expect(widths.dropFirst(6).allSatisfy { $0 == 8 })
    }

    @Test("grows on a lossy path, whose windows differ by half", arguments: [8, 16])
    func lossy(most: Int) {
        let path = Path(each: 5e5, all: 1e9, noise: [1, 0.7, 1.2, 0.9, 1.3, 0.8, 1.1])
        #expect(widths(path, most: most, windows: 30).dropFirst(24).allSatisfy { $0 == most })
    }

    @Test("tries more ever more rarely where one takes all there is")
    func clean() {
        for path in [Path(each: 1e8, all: 1e8), Path(each: 1e8, all: 1e8, cost: 0.05, noise: [1, 1.1, 0.9])] {
            let widths = widths(path, most: 8, windows: 1000)
            #expect(widths.allSatisfy { $0 <= 2 })
            #expect(widths.count { $0 > 1 } < 40)
            #expect(widths.suffix(500).count { $0 > 1 } < 12)
        }
    }

    @Test("waits until one connection is as fast as it gets")
    func slowStart() {
        let widths = widths(Path(each: 1e8, all: 1e8, start: 8), most: 8, windows: 12)
        #expect(widths.prefix(8).allSatisfy { $0 == 1 })
    }

    @Test("stops where more no longer pays")
    func bounded() {
        let widths = widths(Path(each: 1e6, all: 4e6), most: 16, windows: 400)
        #expect(widths.suffix(300).count { $0 == 4 } > 280)
        #expect(widths.last == 4 || widths.last == 8)
    }

    @Test("begins with what an earlier try found, and never goes beyond the most")
    func known() {
        #expect(widths(Path(each: 1e6, all: 1e9), most: 8, windows: 1, width: 8) == [8])
        #expect(widths(Path(each: 1e6, all: 1e9), most: 4, windows: 1, width: 8) == [4])
    }

    /// A new connection is fast until it has lost its first packet.
    @Test("rests no longer on what it knows than the path is as it was")
    func slower() {
        let path = Path(each: 1e6, all: 1e9, bursts: [0: 8, 1: 8, 2: 4, 3: 4])
        let widths = widths(path, most: 16, windows: 20)
        #expect(widths.prefix(4).contains(2))
        #expect(widths.suffix(4).allSatisfy { $0 == 16 })
    }

    @Test("tries nothing where little is left")
    func nearTheEnd() {
        let limited = Path(each: 1e7, all: 1e9)
        for (direction, windows) in [(ConcurrencyController.Direction.receiving, 8), (.sending(part: 8 << 20), 20)] {
            // Two windows are needed for the rate of one stream; then there must be as much left as it moves in so many.
            let enough = Int64(windows + 2) * 1_000_000
            #expect(widths(limited, most: 8, windows: 2, direction: direction, total: enough).last == 2)
            #expect(widths(limited, most: 8, windows: 2, direction: direction, total: enough - 1).last == 1)
        }
    }

    @Test(
        "sends in several streams at once where each is silent for long: far away, or at a service that thinks",
        arguments: [
            (ConcurrencyController.Direction.sending(part: 8 << 20), 2), (.sending(part: 2 << 20), 3), (.receiving, 1),
        ])
    func silence(direction: ConcurrencyController.Direction, expected: Int) {
        func pace(_ most: Int = 8, width: Int? = nil) -> ConcurrencyController {
            ConcurrencyController(direction, most: most, of: .max, width: width, now: Timestamp(milliseconds: 0))
        }
        var near = pace()
        near.connected(over: .milliseconds(1))
        near.sentPart(in: .milliseconds(30), silentFor: .milliseconds(19))
        near.sentPart(in: .seconds(2), silentFor: .milliseconds(90))
        #expect((near.width, near.window) == (1, .milliseconds(100)))
        var far = pace()
        far.connected(over: .milliseconds(50))
        #expect((far.width, far.proven, far.window) == (expected, expected, .milliseconds(200)))
        var thinking = pace()
        thinking.sentPart(in: .milliseconds(300), silentFor: .milliseconds(200))
        #expect(thinking.width == expected)
        var single = pace(1)
        single.connected(over: .milliseconds(50))
        #expect(single.width == 1)
        var known = pace(width: 4)
        known.connected(over: .milliseconds(50))
        #expect(known.width == 4)
    }

    @Test("a gauge wakes its owner when the number changes, and tells what one stream moves")
    func gauge() async {
        let time = ManualNow()
        let gauge = ThroughputMonitor(ConcurrencyController(.receiving, most: 8, of: .max, width: nil, now: time.now)) {
            time.now
        }
        #expect(gauge.reach == nil)
        gauge.begin(at: 5000)
        for turn in 1...2 {
            time.move(to: 100 * Int64(turn))
            gauge.note(5000 + Int64(turn) * 1_000_000)
        }
        await gauge.change()
        #expect(gauge.width == 2)
        #expect(gauge.proven == 1)
        #expect(gauge.reach == 8_000_000)
    }
}

/// A clock that a test moves.
private final class ManualNow: Sendable {
    private let milliseconds = Mutex<Int64>(0)
    var now: Timestamp { Timestamp(milliseconds: milliseconds.withLock { $0 }) }
    func move(to value: Int64) { milliseconds.withLock { $0 = value } }
}
