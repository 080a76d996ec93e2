import JSONPath

/// The document's `retry`: what it says replaces the same key of the outer one, the rest stays.
public struct RetryDefinition: Sendable {
    public var attempts: Int?
    public var duration: Duration?
    public var delay: Duration?
    public var factor: Double?
    public var maximum: Duration?
    public var jitter: RetryPolicy.Jitter?
    public var statuses: [Int]?

    /// A definition that says nothing.
    public init() {}

    public static let field = Field("retry", type.named("retry"), "When a failed try is repeated.")

    static let attemptsField = Field(
        "attempts", .integer(1...1_000_000), default: 5, "How many answers may fail since the last progress.")
    static let durationField = Field("for", .plainDuration, default: "24h", "How long tries may go on failing.")
    static let delayField = Field("delay", .plainDuration, default: "1s", "The first delay.")
    static let factorField = Field("factor", .number(1...100), default: 2, "By what the delay grows.")
    static let maximumField = Field("max", .plainDuration, default: "5m", "The longest delay.")
    static let jitterField = Field(
        "jitter", FieldType<RetryPolicy.Jitter>.word("jitter"), default: "full", "How delays are spread.")
    static let statusesField = Field(
        "statuses", .array(of: FieldType<Int>.integer(100...599)), default: [408, 425, 429, 500, 502, 503, 504],
        "Statuses that are worth another try.")

    static var type: FieldType<RetryDefinition> {
        let fields: [any AnyField] = [
            attemptsField, durationField, delayField, factorField, maximumField, jitterField, statusesField,
        ]
        return .object(fields) { reader in
            var retry = RetryDefinition()
            retry.attempts = reader.optional(attemptsField)
            retry.duration = reader.optional(durationField)
            retry.delay = reader.optional(delayField)
            retry.factor = reader.optional(factorField)
            retry.maximum = reader.optional(maximumField)
            retry.jitter = reader.optional(jitterField)
            retry.statuses = reader.optional(statusesField)
            return retry
        }
    }

    /// The policy of a stage: its own keys, then the pipeline's, then the defaults.
    func policy(over outer: RetryDefinition) -> RetryPolicy {
        let plain = RetryPolicy()
        return RetryPolicy(
            attempts: attempts ?? outer.attempts ?? plain.attempts,
            duration: duration ?? outer.duration ?? plain.duration, delay: delay ?? outer.delay ?? plain.delay,
            factor: factor ?? outer.factor ?? plain.factor, maximum: maximum ?? outer.maximum ?? plain.maximum,
            jitter: jitter ?? outer.jitter ?? plain.jitter, statuses: statuses ?? outer.statuses ?? plain.statuses)
    }
}
