/// What is known of a stage's duration before it begins: its past, and its author's guess. Made once for a job from
/// the history; a pure value that stage, engine and commands make estimates from.
public struct StageOutlook: Sendable, Hashable {
    /// Past durations in seconds, oldest first, those of another size brought to this one's.
    public let durations: [Double]
    /// The author's guess in seconds.
    public let guess: Double?
    /// By what the service's `remaining` was wrong: mean and standard deviation of the logarithm; nil when unknown.
    public let remainingError: ReportError?
    /// Likewise what its `progress` implied.
    public let progressError: ReportError?
    /// Polls in the mean of the last jobs; nil without a history.
    public let pastPolls: Double?
    /// Whether the size explains durations, so that they were brought to this one's.
    public let isBySize: Bool

    /// How wrong a service's words were in the past.
    public struct ReportError: Sendable, Hashable {
        public let mean: Double
        public let spread: Double
    }

    /// Nothing is known.
    public static let unknown = StageOutlook(samples: [], size: nil, guess: nil)

    /// - Parameters:
    ///   - samples: of this stage, oldest first.
    ///   - size: the size of what it is about now, as the samples count it.
    ///   - guess: the author's guess in seconds.
    public init(samples: [StageSample], size: Double? = nil, guess: Double? = nil) {
        let recent = Array(samples.suffix(Self.remembered))
        let fit = size.flatMap { SizeFit(recent, for: $0) }
        durations =
            zip(recent, fit?.factors ?? []).map { $0.likelySeconds * $1 }.nonEmpty
            ?? recent.map(\.likelySeconds)
        isBySize = fit != nil
        let polled = recent.suffix(10)
        pastPolls = polled.isEmpty ? nil : Double(polled.reduce(0) { $0 + $1.polls }) / Double(polled.count)
        self.guess = guess
        remainingError = Self.error(recent.compactMap(\.remainingError))
        progressError = Self.error(recent.compactMap(\.progressError))
    }

    /// Older ones say nothing about today.
    private static let remembered = 60

    private static func error(_ errors: [Double]) -> ReportError? {
        let last = errors.suffix(30)
        guard last.count >= 3 else { return nil }
        let mean = last.reduce(0, +) / Double(last.count)
        let variance = last.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(last.count - 1)
        return ReportError(mean: mean, spread: max(variance.squareRoot(), 0.03))
    }

    /// The names of the sources, as estimates show them.
    public var sources: [String] {
        (durations.isEmpty ? [] : [isBySize ? "history by size" : "history"]) + (guess == nil ? [] : ["author"])
    }

    /// The distribution of the whole duration; nil when nothing is known.
    public var distribution: DurationDistribution? {
        let past = PastDurations(durations).distribution
        let guessed = guess.map { DurationDistribution(median: $0, spread: 0.5) }
        switch (past, guessed) {
        case (nil, nil): return nil
        case (let past?, nil): return past
        case (nil, let guessed?): return guessed
        // A guess counts as two jobs.
        case (let past?, let guessed?):
            return past.mixed(with: guessed, weight: 2 / (2 + Double(durations.count * durations.count)))
        }
    }
}

extension Array {
    fileprivate var nonEmpty: Array? { isEmpty ? nil : self }
}

/// Whether and how durations grow with a size: a line in the logarithms, by least squares.
private struct SizeFit {
    /// By what each past duration is multiplied to be as of this size.
    let factors: [Double]

    /// Nil when the sizes explain too little: at least a third of the variance must go.
    init?(_ samples: [StageSample], for size: Double) {
        let sized = samples.filter { ($0.size ?? 0) > 0 }
        guard size > 0, sized.count == samples.count, sized.count >= 5 else { return nil }
        let x = sized.map { Normal.logarithm($0.size ?? 1) }
        let y = sized.map { Normal.logarithm($0.likelySeconds) }
        let (meanX, meanY) = (x.reduce(0, +) / Double(x.count), y.reduce(0, +) / Double(y.count))
        let variance = x.reduce(0) { $0 + ($1 - meanX) * ($1 - meanX) }
        guard variance > 1e-6 else { return nil }
        let covariance = zip(x, y).reduce(0) { $0 + ($1.0 - meanX) * ($1.1 - meanY) }
        let slope = min(max(covariance / variance, 0), 2)
        let before = y.reduce(0) { $0 + ($1 - meanY) * ($1 - meanY) }
        let after = zip(x, y).reduce(0) { sum, pair in
            let rest = pair.1 - meanY - slope * (pair.0 - meanX)
            return sum + rest * rest
        }
        guard slope > 0.05, after < before * 2 / 3 else { return nil }
        let target = Normal.logarithm(size)
        factors = x.map { Normal.exponential(slope * (target - $0)) }
    }
}
