import PipelineCore

/// Finds, while an upload runs, how many parts at a time are worth it: more where each connection alone is slow, one
/// where they would only take from each other.
///
/// One more size is tried when a round at the present one has ended, twice as many each time. It stays when all together
/// became faster by a tenth; otherwise the last size that paid is kept, and a larger one is tried again after some rounds.
struct PartPace: Sendable, Equatable {
    /// The most that the author allows.
    let most: Int
    /// How many parts may be under way now.
    private(set) var width: Int
    private var paid: (width: Int, rate: Double)?
    private var roundBegan: Timestamp
    private var roundBytes: Int64 = 0
    private var roundParts = 0
    private var restingRounds = 0

    private static let gain = 1.1
    private static let rest = 8

    init(most: Int, now: Timestamp) {
        self.most = max(1, most)
        width = 1
        roundBegan = now
    }

    static func == (left: PartPace, right: PartPace) -> Bool {
        left.most == right.most && left.width == right.width && left.roundParts == right.roundParts
    }

    /// Takes in a part that has arrived.
    mutating func note(_ bytes: Int64, at now: Timestamp) {
        roundBytes += bytes
        roundParts += 1
        guard roundParts >= width else { return }
        let seconds = max(
            1e-6,
            Double((now - roundBegan).components.seconds)
                + Double((now - roundBegan).components.attoseconds) / 1e18)
        judge(Double(roundBytes) / seconds)
        (roundBegan, roundBytes, roundParts) = (now, 0, 0)
    }

    private mutating func judge(_ rate: Double) {
        guard most > 1 else { return }
        if restingRounds > 0 {
            restingRounds -= 1
            if paid?.width == width { paid?.rate = rate }
            if restingRounds == 0 { widen() }
            return
        }
        if let paid, width > paid.width, rate < paid.rate * Self.gain {
            width = paid.width
            restingRounds = Self.rest
        } else {
            paid = (width, rate)
            if width == most { restingRounds = Self.rest } else { widen() }
        }
    }

    private mutating func widen() { width = min(most, width * 2) }
}
