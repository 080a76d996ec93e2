/// The knowledge of a stage's duration before it begins: its past, and its author's guess. Made once for a job from the
/// history; a pure value that stage, engine and commands make estimates from.
package struct StageOutlook: Sendable, Hashable {
    /// Past durations and those of jobs that still run, in the order in which they began, those of another size brought
    /// to this one's.
    package let durations: [PastDuration]
    /// The author's guess in seconds.
    package let guess: Double?
    /// By what the service's `remaining` was wrong: mean and standard deviation of the logarithm; nil when unknown.
    package let remainingError: ReportError?
    /// By what the time left that its `progress` implied was wrong, measured likewise.
    package let progressError: ReportError?
    /// Polls in the mean of the last jobs; nil without a history.
    package let pastPolls: Double?
    /// True if the size explains durations, so that they were brought to this one's.
    package let isBySize: Bool
    /// By how much the logarithm of the duration is in doubt since no past job was of this size; 0 within the sizes seen.
    package let sizeDoubt: Double
    /// True if the last intervals that were foretold held so seldom that the next one is not to be shown.
    package let isContradicted: Bool

    /// The distribution of the whole duration; nil when nothing is known.
    package let distribution: DurationDistribution?

    /// The error of a service's own estimates in the past.
    package struct ReportError: Sendable, Hashable {
        package let mean: Double
        package let spread: Double
    }

    /// Nothing is known.
    package static let unknown = StageOutlook(samples: [], size: nil, guess: nil)

    /// - Parameters:
    ///   - samples: of this stage, oldest first, and of jobs that run it now (``StageSample/isRunning``).
    ///   - subject: the stage's kind and service now; samples of another are left out.
    ///   - size: the size of what it is about now, as the samples count it.
    ///   - guess: the author's guess in seconds.
    package init(samples: [StageSample], subject: String? = nil, size: Double? = nil, guess: Double? = nil) {
        var recent: [StageSample] = []
        var running: [StageSample] = []
        for sample in samples.reversed() where subject == nil || sample.subject == nil || sample.subject == subject {
            if sample.isRunning {
                running.append(sample)
            } else if recent.count < Self.remembered {
                recent.append(sample)
            }
        }
        recent.reverse()
        let fit = size.flatMap { SizeFit(recent, for: $0) }
        running = Self.some(of: running.reversed())
        let all = running.isEmpty ? recent : (recent + running).sorted { $0.began < $1.began }
        durations = all.map { PastDuration($0.likelySeconds * (fit?.factor(for: $0) ?? 1), isRunning: $0.isRunning) }
        isBySize = fit != nil
        sizeDoubt = fit?.doubt ?? 0
        isContradicted = Self.isContradicted(recent)
        let polled = recent.suffix(10)
        pastPolls = polled.isEmpty ? nil : Double(polled.reduce(0) { $0 + $1.polls }) / Double(polled.count)
        self.guess = guess
        distribution = Self.distribution(durations, sizeDoubt: sizeDoubt, guess: guess)
        remainingError = Self.error(recent.compactMap(\.remainingError))
        progressError = Self.error(recent.compactMap(\.progressError))
    }

    /// At most as many as are remembered, evenly from all of them: a batch may run thousands.
    private static func some(of running: [StageSample]) -> [StageSample] {
        guard running.count > remembered else { return running }
        let step = Double(running.count) / Double(remembered)
        return (0..<remembered).map { running[Int(Double($0) * step)] }
    }

    /// True if so few of the last jobs ended within the p90 that was foretold for them that it can hardly be one: less
    /// than one chance in a hundred (the tail of the binomial distribution).
    private static func isContradicted(_ samples: [StageSample]) -> Bool {
        let told = samples.suffix(20).compactMap { sample in sample.p90.map { sample.likelySeconds <= $0 } }
        let held = told.count { $0 }
        var term = 1.0
        for _ in told { term *= 0.1 }
        var tail = term
        for count in 0..<held {
            term *= 9 * Double(told.count - count) / Double(count + 1)
            tail += term
        }
        return tail < 0.01
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
    package var sources: [String] {
        (endedCount == 0 ? [] : [isBySize ? "history by size" : "history"]) + (guess == nil ? [] : ["author"])
    }

    private static func distribution(
        _ durations: [PastDuration], sizeDoubt: Double, guess: Double?
    ) -> DurationDistribution? {
        let past = PastDurations(durations).distribution?.widened(by: sizeDoubt)
        let guessed = guess.map { DurationDistribution(median: $0, spread: 0.5) }
        guard let past, let guessed else { return past ?? guessed }
        // A guess counts as two jobs.
        let ended = durations.count { !$0.isRunning }
        return past.mixed(with: guessed, weight: 2 / (2 + Double(ended * ended)))
    }

    private var endedCount: Int { durations.count { !$0.isRunning } }
}

/// The growth of durations with a size: a line in the logarithms, by least squares. It is believed within the sizes
/// that were seen: beyond them a duration is as of the nearest of these, and in doubt by what the line would add.
private struct SizeFit {
    private let slope: Double
    private let target: Double
    /// In the logarithm of the duration.
    let doubt: Double

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
        let wanted = Normal.logarithm(size)
        self.slope = slope
        target = min(max(wanted, x.min() ?? wanted), x.max() ?? wanted)
        doubt = min(3, slope * (wanted - target).magnitude)
    }

    /// By what the duration of a past job is multiplied to be as of this size.
    func factor(for sample: StageSample) -> Double {
        guard let size = sample.size, size > 0 else { return 1 }
        return Normal.exponential(slope * (target - Normal.logarithm(size)))
    }
}
