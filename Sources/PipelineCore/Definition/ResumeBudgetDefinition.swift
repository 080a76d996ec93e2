import JSONPath

/// `background.budget`: how often the program may get control back without a person.
package enum ResumeBudgetDefinition: Sendable {
    /// So many resumes in a sliding window cost nothing; each further one is delayed, ever longer.
    package struct Limits: Sendable {
        package var resumes = Setting.constant(30)
        /// The window.
        package var window = Setting.constant(Duration.seconds(3600))
        /// The first delay beyond it.
        package var base = Setting.constant(Duration.seconds(60))
        /// By what the delay grows.
        package var factor = Setting.constant(2.0)
        /// The longest delay.
        package var maximum = Setting.constant(Duration.seconds(3600))

        package static let standard = Limits()
    }

    case limited(Limits)
    case unlimited
    /// As a phone's system does it: no allowance, 60 s that double up to a day.
    case ios

    static let resumesField = Field(
        "resumes", .count(0...1_000_000, roots: .known), default: 30, "How many resumes are free in each window.")
    static let windowField = Field("per", .duration(.known), default: "1h", "The sliding window.")
    static let baseField = Field("base", .duration(.known), default: "60s", "The first delay beyond it.")
    static let factorField = Field(
        "factor", .quantity(1...100, roots: .known), default: 2, "By what the delay grows.")
    static let maximumField = Field("max", .duration(.known), default: "1h", "The longest delay.")

    private enum Word: String, CaseIterable { case unlimited, ios }

    static var type: FieldType<ResumeBudgetDefinition> {
        .either(limits, when: { $0.isObject }, or: word)
    }

    private static var word: FieldType<ResumeBudgetDefinition> {
        FieldType<Word>.word("budget").map { $0 == .ios ? .ios : .unlimited }
    }

    private static var limits: FieldType<ResumeBudgetDefinition> {
        .object([resumesField, windowField, baseField, factorField, maximumField]) { reader in
            let plain = Limits.standard
            return .limited(
                Limits(
                    resumes: reader.value(resumesField, default: plain.resumes),
                    window: reader.value(windowField, default: plain.window),
                    base: reader.value(baseField, default: plain.base),
                    factor: reader.value(factorField, default: plain.factor),
                    maximum: reader.value(maximumField, default: plain.maximum)))
        }
    }
}
