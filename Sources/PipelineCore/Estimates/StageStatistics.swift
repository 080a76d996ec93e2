package import JSONPath

/// The history of one stage in figures, as `pipeline stats` shows it.
package struct StageStatistics: Sendable, Hashable {
    package let stage: String
    package let count: Int
    /// Quantiles of the durations, in seconds.
    package let p50: Double
    package let p90: Double
    /// Per job, in the mean.
    package let polls: Double
    package let resumes: Double
    /// Bytes per second, in the mean; nil for a stage that moves none.
    package let throughput: Double?
    /// The number of times that the durations stayed within what was foretold; nil when nothing was.
    package let held50: Double?
    package let held90: Double?
    /// The number of those for which something was foretold.
    package let foretold: Int

    /// Nil without samples. Of one stage.
    package init?(stage: String, samples: [StageSample]) {
        guard !samples.isEmpty else { return nil }
        self.stage = stage
        count = samples.count
        let sorted = samples.map(\.seconds).sorted()
        func quantile(_ share: Double) -> Double {
            sorted[min(sorted.count - 1, max(0, Int((share * Double(sorted.count)).rounded(.up)) - 1))]
        }
        p50 = quantile(0.5)
        p90 = quantile(0.9)
        func mean(_ value: (StageSample) -> Double) -> Double {
            samples.reduce(0) { $0 + value($1) } / Double(samples.count)
        }
        polls = mean { Double($0.polls) }
        resumes = mean { Double($0.resumes) }
        let (bytes, seconds) = (samples.reduce(0.0) { $0 + Double($1.bytes) }, sorted.reduce(0, +))
        throughput = bytes > 0 && seconds > 0 ? bytes / seconds : nil
        let told = samples.filter { $0.p50 != nil && $0.p90 != nil }
        foretold = told.count
        func held(_ limit: (StageSample) -> Double?) -> Double? {
            told.isEmpty ? nil : Double(told.count { $0.likelySeconds <= limit($0) ?? 0 }) / Double(told.count)
        }
        held50 = held(\.p50)
        held90 = held(\.p90)
    }

    /// The form of `stats --json`. Durations are seconds, throughput bytes per second, shares from 0 to 1.
    package var json: JSON {
        func number(_ value: Double?) -> JSON {
            value.map { .number(JSONNumber(($0 * 1000).rounded() / 1000)) } ?? .null
        }
        return [
            "id": .string(stage), "count": .number(JSONNumber(count)),
            "duration": ["p50": number(p50), "p90": number(p90)], "throughput": number(throughput),
            "polls": number(polls), "resumes": number(resumes),
            "held": ["p50": number(held50), "p90": number(held90), "count": .number(JSONNumber(foretold))],
        ]
    }
}
