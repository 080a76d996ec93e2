import JSONPath

/// The document's `retry`: what it says replaces the same key of the outer one, the rest stays.
package struct RetryDefinition: Sendable {
    package var attempts: Setting<Int>?
    package var duration: Setting<Duration>?
    package var delay: Setting<Duration>?
    package var factor: Setting<Double>?
    package var maximum: Setting<Duration>?
    package var jitter: RetryPolicy.Jitter?
    package var statuses: [Setting<Int>]?

    /// A definition that says nothing.
    package init() {}

    /// Of a stage, whose templates may read what its requests may.
    static let field = RetryFields(.request).field
    /// Of the whole document.
    static let documentField = RetryFields(.service).field

    /// Returns the same with what the outer one says where this says nothing.
    func over(_ outer: RetryDefinition) -> RetryDefinition {
        var all = self
        all.attempts = attempts ?? outer.attempts
        all.duration = duration ?? outer.duration
        all.delay = delay ?? outer.delay
        all.factor = factor ?? outer.factor
        all.maximum = maximum ?? outer.maximum
        all.jitter = jitter ?? outer.jitter
        all.statuses = statuses ?? outer.statuses
        return all
    }

    /// The policy with the values of a scope; what is not said has its default.
    package func policy(in scope: Scope) throws(EvaluationFailure) -> RetryPolicy {
        let plain = RetryPolicy()
        var codes: [Int] = []
        for status in statuses ?? [] { codes.append(try status.value(in: scope)) }
        return RetryPolicy(
            attempts: try attempts?.value(in: scope) ?? plain.attempts,
            duration: try duration?.value(in: scope) ?? plain.duration,
            delay: try delay?.value(in: scope) ?? plain.delay, factor: try factor?.value(in: scope) ?? plain.factor,
            maximum: try maximum?.value(in: scope) ?? plain.maximum, jitter: jitter ?? plain.jitter,
            statuses: statuses == nil ? plain.statuses : codes)
    }

    /// True if it is the same in every scope.
    package var isConstant: Bool {
        func isKnown<Value>(_ setting: Setting<Value>?) -> Bool { setting == nil || setting?.constant != nil }
        return isKnown(attempts) && isKnown(duration) && isKnown(delay) && isKnown(factor) && isKnown(maximum)
            && (statuses ?? []).allSatisfy(isKnown)
    }

    /// The policy when no value is known: what needs one has its default.
    package var constants: RetryPolicy {
        let plain = RetryPolicy()
        return RetryPolicy(
            attempts: attempts?.constant ?? plain.attempts, duration: duration?.constant ?? plain.duration,
            delay: delay?.constant ?? plain.delay, factor: factor?.constant ?? plain.factor,
            maximum: maximum?.constant ?? plain.maximum, jitter: jitter ?? plain.jitter,
            statuses: statuses?.compactMap(\.constant) ?? plain.statuses)
    }
}

/// The table of the fields of `retry`.
private struct RetryFields: Sendable {
    let attempts: Field<Setting<Int>>
    let duration: Field<Setting<Duration>>
    let delay: Field<Setting<Duration>>
    let factor: Field<Setting<Double>>
    let maximum: Field<Setting<Duration>>
    let jitter = Field(
        "jitter", FieldType<RetryPolicy.Jitter>.word("jitter"), default: "full", "How delays are spread.")
    let statuses: Field<[Setting<Int>]>

    init(_ roots: AllowedRoots) {
        attempts = Field(
            "attempts", .count(1...1_000_000, roots: roots), default: 5,
            "How many answers may fail since the last progress.")
        duration = Field("for", .duration(roots), default: "24h", "How long tries may go on failing.")
        delay = Field("delay", .duration(roots), default: "1s", "The first delay.")
        factor = Field("factor", .quantity(1...100, roots: roots), default: 2, "By what the delay grows.")
        maximum = Field("max", .duration(roots), default: "5m", "The longest delay.")
        statuses = Field(
            "statuses", .array(of: FieldType<Setting<Int>>.count(100...599, roots: roots)),
            default: [408, 425, 429, 500, 502, 503, 504],
            "Statuses that are worth another try. One beyond the defaults says of a submit that it was not accepted, and of a "
                + "poll nothing about the job.")
    }

    var field: Field<RetryDefinition> { Field("retry", type.named("retry"), "When a failed try is repeated.") }

    private var type: FieldType<RetryDefinition> {
        .object([attempts, duration, delay, factor, maximum, jitter, statuses]) { reader in
            var retry = RetryDefinition()
            retry.attempts = reader.optional(attempts)
            retry.duration = reader.optional(duration)
            retry.delay = reader.optional(delay)
            retry.factor = reader.optional(factor)
            retry.maximum = reader.optional(maximum)
            retry.jitter = reader.optional(jitter)
            retry.statuses = reader.optional(statuses)
            return retry
        }
    }
}
