import JSONPath

/// The document's `background`: how a job behaves when no person waits for it.
package struct BackgroundDefinition: Sendable {
    /// The time by which resumes may be moved so that several happen together.
    package enum Tolerance: Sendable, Equatable {
        /// Of the time that is waited, 0.1 for `"10%"`.
        case fraction(Double)
        case duration(Duration)

        /// Returns how far the end of a wait may be moved; a hundred years at most, whatever percentage the document
        /// gives.
        package func length(of wait: Duration) -> Duration {
            switch self {
            case .fraction(let share): .seconds(min(36_525 * 86_400, max(0, wait.seconds) * share))
            case .duration(let duration): duration
            }
        }
    }

    /// True if its stages also need a good moment.
    package let isDiscretionary: Setting<Bool>
    package let tolerance: Setting<Tolerance>
    package let budget: ResumeBudgetDefinition
    /// True if the document has the member; else all of this is what holds without it.
    package let isStated: Bool

    /// The rules of a document that has no `background`.
    package static let standard = BackgroundDefinition(
        isDiscretionary: .constant(false), tolerance: .constant(.fraction(0.1)), budget: .unlimited,
        isStated: false)

    static let discretionaryField = Field(
        "discretionary", .flag(.known), default: false,
        "Whether stages also wait for a good moment.")
    static let toleranceField = Field(
        "tolerance", Tolerance.type, default: "10%", examples: ["10%", "5m"],
        "How far a resume may be moved to happen together with others: a percentage of the wait, or a duration."
    )
    static let budgetField = Field(
        "budget", ResumeBudgetDefinition.type,
        "How many resumes the background allows, and how it slows down beyond; without it nothing is held back.")

    static var type: FieldType<BackgroundDefinition> {
        .object([discretionaryField, toleranceField, budgetField]) { reader in
            BackgroundDefinition(
                isDiscretionary: reader.value(discretionaryField, default: standard.isDiscretionary),
                tolerance: reader.value(toleranceField, default: standard.tolerance),
                budget: reader.value(budgetField, default: standard.budget), isStated: true)
        }
    }
}

extension BackgroundDefinition.Tolerance {
    static var type: FieldType<Setting<Self>> {
        let percentage: JSON = ["type": "string", "pattern": "^[0-9]+(\\.[0-9]+)?%$"]
        return .setting(
            schema: ["anyOf": [percentage, .duration]], roots: .known
        ) { json throws(ValueSyntaxError) in
            if let text = json.string, text.hasSuffix("%") { return .fraction(try PercentageText.parse(text)) }
            if let text = json.string, text.contains(where: \.isNumber), !UnitText.isBareNumber(text) {
                return .duration(try DurationText.parse(text))
            }
            throw ValueSyntaxError(
                "a tolerance is a percentage or a duration", hint: "write it as in \"10%\" or \"5m\"")
        }
    }
}
