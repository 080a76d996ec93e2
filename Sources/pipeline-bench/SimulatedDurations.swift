import CLibrary
import SeededNumbers

/// Durations of a simulated service, in seconds, fixed by a seed.
struct SimulatedDurations {
    enum Kind: String, CaseIterable {
        case lognormal
        /// Two of three jobs are short, the others four times as long.
        case bimodal
        /// Half as slow again over a hundred jobs.
        case drifting
        /// As long as the input is large, within a fifth.
        case bySize = "by size"
    }

    let kind: Kind
    var median = 60.0
    var spread = 0.5
    /// The numbers that fix them; for other choices of the same run too.
    var random: SplitMix64
    private var count = 0

    init(_ kind: Kind, seed: UInt64) {
        self.kind = kind
        random = SplitMix64(seed: seed &* 1_000_003 &+ 17)
    }

    /// The next one, and the size of its input where that matters.
    mutating func next() -> (seconds: Double, size: Double?) {
        count += 1
        switch kind {
        case .lognormal: return (median * exp(spread * random.normal()), nil)
        case .bimodal: return (median * (random.unit() < 0.67 ? 0.5 : 2) * exp(0.2 * random.normal()), nil)
        case .drifting: return (median * (1 + 0.5 * Double(count) / 100) * exp(0.3 * random.normal()), nil)
        case .bySize:
            let size = 1e6 * exp(random.normal())
            return (median * size / 1e6 * exp(0.2 * random.normal()), size)
        }
    }

    /// Returns the same with 2 % outliers of five times and 1 % that fail early.
    mutating func nextWithOutliers() -> Double {
        let usual = next().seconds
        let chance = random.unit()
        if chance < 0.02 { return usual * 5 }
        return chance < 0.03 ? usual * random.unit() : usual
    }
}
