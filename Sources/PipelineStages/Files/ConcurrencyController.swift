import PipelineCore
import PipelineHTTP

/// Finds, while a transfer runs, how many streams at a time are worth it: more where each connection alone is slow, as
/// on a lossy path or at a service that limits each, and one where they would only take from each other.
///
/// It looks at what all streams together moved in a window of time. Once that no longer grows at the present number,
/// twice as many are tried. They stay when the gain is a good part of what was added; otherwise the number that paid is
/// taken up again, and the next trial comes after a rest that doubles each time. So a transfer that needs one stream
/// spends little on finding that out, and one that needs eight has them after a few windows. Near its end nothing is
/// tried: streams that only took from each other leave their connections slow for longer than is left.
struct ConcurrencyController: Sendable {
    /// Which way the bytes go.
    enum Direction: Sendable {
        case receiving
        /// In parts of so many bytes. What is sent first only fills the buffers of the path, and a stream is silent behind
        /// each part until its answer is there.
        case sending(part: Int64)

        /// The number of streams that are worth it where each is silent for long, so that some move meanwhile.
        fileprivate var widthInSilence: Int {
            switch self {
            case .receiving: 1
            case .sending(let part): part < 4 << 20 ? 3 : 2
            }
        }

        /// The number of windows of a trial that say nothing.
        fileprivate var silentWindows: Int {
            switch self {
            case .receiving: 0
            case .sending: 1
            }
        }

        /// For how many windows there must be something left to move, so that a trial can pay.
        fileprivate var leastLeft: Double {
            switch self {
            case .receiving: 8
            case .sending: 20
            }
        }
    }

    /// The most that the author allows.
    let most: Int
    /// The time that is looked at as one.
    private(set) var window: Duration
    /// The number of streams that may be under way now.
    private(set) var width: Int
    /// The number that were worth it so far.
    private(set) var proven: Int
    /// Bytes per second of all streams together at that number; nil before it was measured.
    private(set) var rate: Double?

    private enum Phase: Sendable {
        /// At the proven number, until it is as fast as it gets: what the window before gave.
        case measuring(Double?)
        /// At a larger number: what its windows gave.
        case trying([Double])
        /// At the proven number, for so many windows more.
        case resting(Int)
    }

    private let total: Int64
    private let isWidthKnown: Bool
    private let direction: Direction
    private var phase = Phase.measuring(nil)
    private var rest = ConcurrencyController.shortestRest
    /// The number of windows of a rest in a row that brought less than half of what was known.
    private var slowWindows = 0
    private var began: Timestamp
    private var moved: Int64 = 0

    private static let shortestRest = 8
    private static let longestRest = 256
    /// The share of a full gain that is enough in one window, and what over several.
    private static let clearGain = 0.6
    private static let leastGain = 0.25
    /// A window that gave more than this times the one before is one in which it still became faster.
    private static let growth = 1.1
    private static let mostTrials = 6
    /// Less is not worth a part more that a kill would lose.
    private static let longSilence = Duration.milliseconds(20)

    /// - Parameters:
    ///   - total: all bytes that there are to move, with those that were moved before.
    ///   - width: how many are known to be worth it, from an earlier try.
    init(_ direction: Direction, most: Int, of total: Int64, width: Int?, now: Timestamp) {
        self.direction = direction
        self.most = max(1, most)
        self.total = total
        self.width = min(max(1, width ?? 1), self.most)
        isWidthKnown = width != nil
        proven = self.width
        window = .milliseconds(100)
        began = now
    }

    /// Takes in how long a round trip of the path takes. A new connection needs some to become fast, so that less than
    /// that can't be looked at; on the same machine time is short for other reasons.
    mutating func connected(over roundTrip: Duration) {
        window = max(window, roundTrip * 4)
        if roundTrip >= ExchangeTimings.farRoundTrip { fillSilence() }
    }

    /// Takes in how long a part took, and for how much of that its stream had nothing more to send.
    mutating func sentPart(in time: Duration, silentFor silence: Duration) {
        if silence >= Self.longSilence, silence * 20 >= time { fillSilence() }
    }

    /// Lets streams move while others are silent, without a trial: it would have to come first.
    private mutating func fillSilence() {
        let enough = min(direction.widthInSilence, most)
        guard !isWidthKnown, proven < enough, case .measuring = phase else { return }
        (width, proven) = (enough, enough)
        phase = .measuring(nil)
    }

    /// Begins to look, with so many bytes that were there before.
    mutating func begin(at total: Int64, now: Timestamp) { (began, moved) = (now, total) }

    /// Takes in how many bytes all streams have moved so far.
    mutating func note(_ moved: Int64, at now: Timestamp) {
        let elapsed = now - began
        guard elapsed >= window, most > 1 else { return }
        let found = Double(max(0, moved - self.moved)) / elapsed.seconds
        (began, self.moved) = (now, moved)
        judge(found)
    }

    private mutating func judge(_ found: Double) {
        switch phase {
        case .measuring(let before):
            guard let before, found <= before * Self.growth else {
                phase = .measuring(found)
                return
            }
            rate = (found + before) / 2
            widen()
        case .trying(let before): judgeTrial(before + [found])
        case .resting(let left):
            slowWindows = found * 2 < rate ?? 0 ? slowWindows + 1 : 0
            // A trial that has just ended may still have streams under way.
            if let known = rate { rate = (known * 3 + found) / 4 }
            // What the rest follows from holds no more where it is so slow: it was measured before the path lost something.
            guard left == 1 || slowWindows == 2 else {
                phase = .resting(left - 1)
                return
            }
            slowWindows = 0
            phase = .measuring(nil)
        }
    }

    private mutating func judgeTrial(_ windows: [Double]) {
        phase = .trying(windows)
        let seen = windows.dropFirst(direction.silentWindows)
        guard let known = rate, let found = seen.last else { return }
        let full = Double(width) / Double(proven) - 1
        if found >= known * (1 + Self.clearGain * full) { return accept(found) }
        let isGrowing = seen.count < 2 || found > seen[seen.endIndex - 2] * Self.growth
        guard !isGrowing || seen.count >= Self.mostTrials else { return }
        let mean = seen.suffix(2).reduce(0, +) / 2
        if mean >= known * (1 + Self.leastGain * full) { return accept(mean) }
        width = proven
        phase = .resting(rest)
        rest = min(rest * 2, Self.longestRest)
    }

    /// A stream more brings no more than one of those before: what comes faster at first is what a service that limits
    /// each has saved up for it.
    private mutating func accept(_ found: Double) {
        rate = min(found, (rate ?? found) * Double(width) / Double(proven))
        proven = width
        rest = Self.shortestRest
        widen()
    }

    /// True if there is enough left for a trial to pay: as much as the present streams move in so many windows.
    private var isWorthTrying: Bool {
        Double(max(0, total - moved)) >= (rate ?? 0) * window.seconds * direction.leastLeft
    }

    private mutating func widen() {
        guard width < most, isWorthTrying else {
            phase = .resting(rest)
            return
        }
        width = min(most, width * 2)
        phase = .trying([])
    }
}
