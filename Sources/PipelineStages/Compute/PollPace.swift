import JSONPath
import PipelineCore

/// How often a poll asks, as the document says it.
struct PollPaceDefinition: Sendable {
    /// Nil for adaptive.
    var every: Setting<Duration>?
    var first: Setting<Duration>?
    var maximum: Setting<Duration>?
    var factor: Double?
    /// Whether anything is said.
    var isGiven = false
}

/// When the next poll is due.
///
/// Adaptive is: after 1 s, then 1.25 times as long each time up to a minute (Google's numbers for long-running
/// operations); when the end is predicted, at about the predicted end. A fixed period does not grow unless told to.
struct PollPace: Sendable {
    var first: Duration = .seconds(1)
    var maximum: Duration = .seconds(60)
    var factor = 1.25
    /// Whether predictions of the end count.
    var isAdaptive = true

    init() {}

    init(_ definition: PollPaceDefinition, in scope: Scope) throws(EvaluationFailure) {
        let every = try definition.every?.value(in: scope)
        isAdaptive = every == nil
        first = try definition.first?.value(in: scope) ?? every ?? first
        factor = definition.factor ?? (isAdaptive ? factor : 1)
        maximum = try definition.maximum?.value(in: scope) ?? (isAdaptive ? maximum : .seconds(86_400))
        period = every
    }

    private var period: Duration?

    /// The wait before the next poll.
    ///
    /// - Parameters:
    ///   - polls: how many were answered since the job began.
    ///   - secondsLeft: what the service says of the end.
    ///   - floor: a server's Retry-After.
    func wait(afterPolls polls: Int, secondsLeft: Double?, floor: Duration?) -> Duration {
        var wait = grown(polls)
        if isAdaptive, let secondsLeft, secondsLeft.isFinite {
            wait = max(first.seconds, min(secondsLeft, maximum.seconds))
        }
        return .seconds(max(wait, floor?.seconds ?? 0, 0.01))
    }

    private func grown(_ polls: Int) -> Double {
        if polls == 0 { return min(first.seconds, maximum.seconds) }
        var wait = (period ?? first).seconds
        let growths = period == nil ? polls : polls - 1
        for _ in 0..<min(growths, 1000) where wait < maximum.seconds { wait *= factor }
        return min(wait, maximum.seconds)
    }
}

/// The table of the fields that say how often a poll asks.
struct PollPaceFields: Sendable {
    let every = Field("every", FieldType<Setting<Duration>?>.period, default: "adaptive", "How often it asks.")
    let first = Field(
        "first", FieldType<Setting<Duration>>.duration(), default: "1s", "The wait before the first poll.")
    let maximum = Field("max", FieldType<Setting<Duration>>.duration(), default: "60s", "The longest wait.")
    let factor = Field("factor", FieldType<Double>.number(1...100), default: 1.25, "By what the wait grows.")

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
