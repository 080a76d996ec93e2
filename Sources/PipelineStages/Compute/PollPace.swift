import JSONPath
import PipelineCore

/// The pace at which a poll asks, as the document says it.
struct PollPaceDefinition: Sendable {
    /// Nil for adaptive.
    var every: Setting<Duration>?
    var first: Setting<Duration>?
    var maximum: Setting<Duration>?
    var factor: Setting<Double>?
    /// True if anything is said.
    var isGiven = false
}

/// The pace that says when the next poll is due.
///
/// Adaptive is: when something is known of the end, at the times that find it soon with few polls (``PollPlan``);
/// when nothing is, after 50 and 100 ms, since many things are short, then after 0.2 s and 1.4 times as long each time
/// up to a minute. While a person waits none is longer than ten seconds or a fifth of what has passed. A fixed period, or one with a factor, is kept as the author said it.
struct PollPace: Sendable {
    private let period: Duration?
    private let first: Duration?
    private let maximum: Duration?
    private let factor: Double?

    init(_ definition: PollPaceDefinition, in scope: Scope) throws(EvaluationFailure) {
        period = try definition.every?.value(in: scope)
        first = try definition.first?.value(in: scope)
        maximum = try definition.maximum?.value(in: scope)
        factor = try definition.factor?.value(in: scope)
    }

    /// The situation from which a wait is chosen.
    struct Situation: Sendable {
        /// The number of polls that were answered since the job began.
        var polls: Int
        /// Seconds since the stage began.
        var elapsed: Double
        /// Makes what is known of the duration.
        var outlook: @Sendable () -> StageOutlook = { .unknown }
        var words = Estimate.Words()
        /// A server's Retry-After.
        var floor: Duration?
        /// True if a push is expected: then a poll is only for the case that it never comes.
        var isPushed = false
        /// True if a person waits for the job.
        var isAttended = false
    }

    /// The wait before the next poll, never shorter than the floor.
    func wait(in situation: Situation) -> Duration {
        var wait: Double
        if situation.polls == 0, let first {
            wait = first.seconds
        } else {
            wait = period != nil || factor != nil ? grown(situation.polls) : adaptive(situation)
        }
        if let maximum { wait = min(wait, maximum.seconds) }
        // Who wants the first at once gets it at once; those after it leave the service its time.
        let least = situation.polls == 0 && first != nil ? 0 : 0.01
        // A hundred years are longer than anything waits, and no more than a clock can hold.
        return .seconds(min(36_525 * 86_400, max(wait, situation.floor?.seconds ?? 0, least)))
    }

    private func grown(_ polls: Int) -> Double {
        let limit = maximum?.seconds ?? (period == nil ? 60 : 86_400)
        let first = first ?? period ?? .seconds(1)
        if polls == 0 { return min(first.seconds, limit) }
        var wait = (period ?? first).seconds
        let growths = period == nil ? polls : polls - 1
        for _ in 0..<min(growths, 1000) where wait < limit { wait *= factor ?? (period == nil ? 1.25 : 1) }
        return min(wait, limit)
    }

    private func adaptive(_ situation: Situation) -> Double {
        let isPushed = situation.isPushed
        let elapsed = max(situation.elapsed, 0)
        guard let estimate = Estimate(situation.outlook(), elapsed: elapsed, words: situation.words) else {
            let wait = min(60, cold(situation.polls)) * (isPushed ? 4 : 1)
            return situation.isAttended && !isPushed ? min(wait, max(10, elapsed / 5)) : wait
        }
        var wait = PollPlan(estimate.distribution, patience: isPushed ? 8 : 1).wait(after: estimate.elapsed)
        if estimate.sources == ["author"], !isPushed {
            // A guess is rough: until there is a history, polls begin as if it were for longer things only.
            wait = min(wait, 0.05 + 0.8 * elapsed)
        }
        let middle = estimate.distribution.quantile(0.5)
        // A service that always says "soon" is not asked ever faster.
        let least = min(0.05 * power(1.3, situation.polls), max(0.1, elapsed * 0.03))
        wait = max(min(wait, max(60, middle)), least)
        // Who sits before it does not wait long on the word of a history.
        return situation.isAttended && !isPushed ? min(wait, max(10, elapsed / 5)) : wait
    }

    private func cold(_ polls: Int) -> Double { polls < 2 ? 0.05 * power(2, polls) : 0.2 * power(1.4, polls - 2) }

    private func power(_ base: Double, _ exponent: Int) -> Double {
        var result = 1.0
        for _ in 0..<min(exponent, 40) { result *= base }
        return result
    }
}

/// The table of the fields that say how often a poll asks.
struct PollPaceFields: Sendable {
    let every = Field("every", FieldType<Setting<Duration>?>.period, default: "adaptive", "How often it asks.")
    let first = Field(
        "first", FieldType<Setting<Duration>>.duration(),
        "The wait before the first poll; by default chosen from what is known of the duration.")
    let maximum = Field(
        "max", FieldType<Setting<Duration>>.duration(),
        "The longest wait; by default a minute, or the median of the duration where that is longer.")
    let factor = Field(
        "factor", FieldType<Setting<Double>>.quantity(1...100), "By what the wait grows, instead of adaptive waits.")

    var all: [any AnyField] { [every, first, maximum, factor] }

    func read(_ reader: ObjectReader) -> PollPaceDefinition {
        let period = reader.optional(every) ?? nil
        return PollPaceDefinition(
            every: period, first: reader.optional(first), maximum: reader.optional(maximum),
            factor: reader.optional(factor), isGiven: all.contains { reader.has($0.name) })
    }
}

extension FieldType where Value == Setting<Duration>? {
    /// `"adaptive"` (nil) or a duration.
    fileprivate static var period: FieldType {
        let duration = FieldType<Setting<Duration>>.duration()
        return FieldType(schema: ["type": "string"]) { place, findings in
            if place.text == "adaptive" { return .some(nil) }
            return duration.read(place, findings).map { .some($0) }
        }
    }
}
