package import JSONPath

/// The time left of something, as a distribution, with the names of the sources that it was made from.
package struct Estimate: Sendable, Hashable {
    /// Of the whole from its origin.
    package let distribution: DurationDistribution
    /// Seconds that have passed since that origin.
    package let elapsed: Double
    /// `history`, `history by size`, `author`, `remaining`, `progress`, `bytes`.
    package let sources: [String]

    /// The end as a service, or the bytes themselves, foretell it.
    package struct Words: Sendable, Hashable {
        /// Seconds left by the service's own word.
        package var secondsLeft: Double?
        /// From 0 to 1.
        package var share: Double?
        /// Seconds in which the share was done; nil for all that have passed since the step began.
        package var shareSeconds: Double?
        /// Seconds left by bytes and their rate.
        package var bytesLeft: Double?

        package init(
            secondsLeft: Double? = nil, share: Double? = nil, shareSeconds: Double? = nil, bytesLeft: Double? = nil
        ) {
            self.secondsLeft = secondsLeft
            self.share = share
            self.shareSeconds = shareSeconds
            self.bytesLeft = bytesLeft
        }

        /// The end by a service's own word: what it says to be left, else the share that it has done of what takes `elapsed`
        /// seconds so far; nil where it says neither.
        package func end(at now: Timestamp, elapsed: Double) -> Timestamp? {
            guard let seconds = secondsLeft ?? secondsByShare(elapsed: elapsed),
                (0...Estimate.longest).contains(seconds)
            else { return nil }
            return now + .seconds(seconds)
        }

        /// The seconds left if the rest is done as fast as the share; nil where too little is done to say so.
        fileprivate func secondsByShare(elapsed: Double) -> Double? {
            let done = shareSeconds ?? elapsed
            guard let share, share > 0.02, share < 1, done > 0 else { return nil }
            return done * (1 - share) / share
        }
    }

    /// Nil when nothing at all is known.
    package init?(_ outlook: StageOutlook, elapsed: Double, words: Words = Words()) {
        let past = outlook.distribution
        guard let (spoken, source) = Self.spoken(words, outlook, elapsed: elapsed) else {
            guard let past else { return nil }
            self.init(distribution: past, elapsed: elapsed, sources: outlook.sources)
            isContradicted = outlook.isContradicted
            return
        }
        guard let past, past.survival(elapsed) > 0.01 else {
            self.init(
                distribution: DurationDistribution(parts: [.init(weight: 1, shape: spoken)]), elapsed: 0,
                sources: [source])
            return
        }
        let blended = Self.blend(spoken, Self.left(of: past, after: elapsed))
        self.init(
            distribution: DurationDistribution(parts: [.init(weight: 1, shape: blended)]), elapsed: 0,
            sources: [source] + outlook.sources)
    }

    init(distribution: DurationDistribution, elapsed: Double, sources: [String]) {
        self.distribution = distribution
        self.elapsed = elapsed
        self.sources = sources
    }

    /// True if it takes into account that the end has not come yet, as one wants for a wait that goes on; else it stays
    /// where it was as time passes, as one wants for a time that was promised.
    private(set) var isConditioned = true

    /// True if intervals like this one held so seldom lately that it is not to be shown
    /// (``StageOutlook/isContradicted``).
    package private(set) var isContradicted = false

    /// The estimate as it was when its origin was new.
    package var promised: Estimate {
        var estimate = self
        estimate.isConditioned = false
        return estimate
    }

    /// The estimate as it stands some seconds later, when nothing else is known.
    package func later(by seconds: Double) -> Estimate {
        var estimate = Estimate(distribution: distribution, elapsed: elapsed + seconds, sources: sources)
        estimate.isContradicted = isContradicted
        return estimate
    }

    /// The seconds left that are not exceeded with the probability.
    package func quantile(_ share: Double) -> Double {
        max(0, distribution.quantile(share, after: isConditioned ? elapsed : 0) - elapsed)
    }

    /// The seconds left at so many evenly spaced shares, in order.
    func quantiles(_ count: Int) -> [Double] {
        distribution.quantiles(count, after: isConditioned ? elapsed : 0).map { max(0, $0 - elapsed) }
    }

    /// The data of `estimate.changed`: seconds left; p90 and p99 are null where the interval is contradicted.
    package var data: JSONObject { data(quantile) }

    /// Returns the same of quantiles that are known.
    func data(_ quantile: (Double) -> Double) -> JSONObject {
        var data = JSONObject(quantiles: quantile, isContradicted: isContradicted)
        data["sources"] = .array(sources.map { .string($0) })
        return data
    }

    // MARK: Blending

    /// A hundred years in seconds. A service may say any number: what would take longer is not believed.
    private static let longest = 36_525.0 * 86_400

    /// The surest of what was said, corrected by how wrong such words were in the past. A service's own numbers come
    /// from one place, so that they are not counted twice.
    private static func spoken(
        _ words: Words, _ outlook: StageOutlook, elapsed: Double
    ) -> (Lognormal, String)? {
        var said: [(Lognormal, String)] = []
        func add(_ seconds: Double, _ error: StageOutlook.ReportError?, unknown: Double, _ source: String) {
            guard seconds <= Self.longest else { return }
            let center = Normal.logarithm(max(seconds, 0.05)) + (error?.mean ?? 0)
            said.append((Lognormal(center: center, spread: error?.spread ?? unknown), source))
        }
        if let left = words.bytesLeft, left.isFinite { add(left, nil, unknown: 0.25, "bytes") }
        if let left = words.secondsLeft, left.isFinite {
            add(left, outlook.remainingError, unknown: 0.3, "remaining")
        }
        if let share = words.share, let seconds = words.secondsByShare(elapsed: elapsed) {
            // The less is done, the less it says of the rest.
            let spread = 0.25 + 0.5 * (1 - share)
            add(seconds, outlook.progressError, unknown: spread, "progress")
        }
        return said.min { $0.0.spread < $1.0.spread }
    }

    /// The time left by the past, as one lognormal.
    private static func left(of past: DurationDistribution, after elapsed: Double) -> Lognormal {
        let points = [0.16, 0.5, 0.84].map {
            Normal.logarithm(max(past.quantile($0, after: elapsed) - elapsed, 0.01))
        }
        return Lognormal(center: points[1], spread: max((points[2] - points[0]) / 2, 0.05))
    }

    /// Each weighs by its precision (inverse variance). When the two are further apart than both allow, the past is
    /// trusted less: the service knows what it is doing today.
    private static func blend(_ spoken: Lognormal, _ past: Lognormal) -> Lognormal {
        let distance = spoken.center - past.center
        let doubt = max(0, distance.magnitude - spoken.spread - past.spread)
        let first = 1 / (spoken.spread * spoken.spread)
        let second = 1 / (past.spread * past.spread + doubt * doubt * 4)
        let center = (spoken.center * first + past.center * second) / (first + second)
        return Lognormal(center: center, spread: (1 / (first + second)).squareRoot() + doubt * 0.1)
    }
}

extension JSONObject {
    /// `p50`, `p90` and `p99` in seconds, to a tenth; the interval is null where its own history contradicts it.
    init(quantiles: (Double) -> Double, isContradicted: Bool) {
        self.init()
        for (name, share) in [("p50", 0.5), ("p90", 0.9), ("p99", 0.99)] {
            let isShown = share == 0.5 || !isContradicted
            self[name] = isShown ? .number(JSONNumber((quantiles(share) * 10).rounded() / 10)) : .null
        }
    }
}
