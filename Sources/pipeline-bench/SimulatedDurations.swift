#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

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
    private var state: UInt64
    private var count = 0

    init(_ kind: Kind, seed: UInt64) {
        self.kind = kind
        state = seed &* 1_000_003 &+ 17
    }

    /// The next one, and the size of its input where that matters.
    mutating func next() -> (seconds: Double, size: Double?) {
        count += 1
        switch kind {
        case .lognormal: return (median * exp(spread * normal()), nil)
        case .bimodal: return (median * (unit() < 0.67 ? 0.5 : 2) * exp(0.2 * normal()), nil)
        case .drifting: return (median * (1 + 0.5 * Double(count) / 100) * exp(0.3 * normal()), nil)
        case .bySize:
            let size = 1e6 * exp(normal())
            return (median * size / 1e6 * exp(0.2 * normal()), size)
        }
    }

    /// Returns the same with 2 % outliers of five times and 1 % that fail early.
    mutating func nextWithOutliers() -> Double {
        let usual = next().seconds
        let chance = unit()
        if chance < 0.02 { return usual * 5 }
        return chance < 0.03 ? usual * unit() : usual
    }

    /// Uniform in 0..<1 (SplitMix64).
    mutating func unit() -> Double {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return Double((mixed ^ (mixed >> 31)) >> 11) * 0x1p-53
    }

    /// A standard normal number (Box and Muller).
    private mutating func normal() -> Double {
        (-2 * log(max(unit(), 1e-12))).squareRoot() * cos(2 * .pi * unit())
    }
}
