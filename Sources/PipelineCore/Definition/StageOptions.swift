import JSONPath

/// The keys that every kind of stage has.
struct StageOptions {
    let service: String?
    let decorators: [DecoratorDefinition]
    /// The stages that must have ended, each with its place; nil for the one before it in the array.
    let needs: [SourceLocation]?
    let condition: Expression?
    let forEach: ForEachDefinition?
    let concurrency: Setting<Int>?
    /// The number of items that may fail; none when nothing is said.
    let tolerance: Setting<FailureTolerance>?
    let stopsOnFailure: Setting<Bool>
    let warnings: [WarnDefinition]
    /// The cost of its success, in the author's currency.
    let cost: Expression?
    let continuesOnFailure: Setting<Bool>
    let retry: RetryDefinition
    let deadline: Setting<Duration>?
    /// The author's guess of its duration.
    let estimate: Setting<Duration>?
    /// True if it also waits for a good moment in the background; nil for what `background` says.
    let isDiscretionary: Setting<Bool>?
    /// Until when its captures are good.
    let expires: ExpiryDefinition?
    /// The stage that gives fresh captures, with its place.
    let renew: SourceLocation?

    static let serviceField = Field("service", .string, "The service that its requests go to.")
    static let needsField = Field(
        "needs", FieldType<[SourceLocation]>.array(of: FieldType<SourceLocation>.text), examples: [["upload"]],
        "Stages that must have ended; the one before it by default, [] for none.")
    static let conditionField = Field(
        "when", .expression([.stages, .job, .secrets]), examples: ["size(inputs.video) > 1000"],
        "An expression; false skips the stage, or with forEach, when it reads 'item', that item.")
    static let forEachField = Field(
        "forEach", ForEachDefinition.type, examples: ["inputs.files"],
        "An expression that gives an array, or { \"stage\": ID }: the stage runs once for each item.")
    static let concurrencyField = Field(
        "concurrency", .count(1...1024), default: 4, "How many items run at a time.")
    static let toleranceField = Field(
        "tolerate", FailureTolerance.type(roots: [.stages, .job, .secrets]), examples: [10, "5%"],
        "With forEach: how many items may fail before the stage does, a number or a percentage; 0 by default.")
    static let stopField = Field(
        "stopOnFailure", .flag([.stages, .job, .secrets]), default: false,
        "With forEach: whether no more items start once one has failed; else all are tried.")
    static let warnField = Field("warn", .array(of: WarnDefinition.type), "What to warn of when it has succeeded.")
    static let costField = Field(
        "cost", FieldType<Expression>.expression([.stages, .own, .job, .item, .response]),
        examples: ["response.body.usage.total * 0.000002"],
        "What it has cost, a number in your currency, judged at its end over the last response.")
    static let continuesField = Field(
        "continueOnFailure", .flag(), default: false, "Whether the others go on when it has failed.")
    static let deadlineField = Field(
        "deadline", .duration().warning(below: .milliseconds(1)), "The longest it may take, over restarts.")
    static let estimateField = Field("estimate", .duration(), "The author's guess of its duration.")

    static let expiresField = Field(
        "expires", ExpiryDefinition.type, examples: [["in": "15m"]],
        "Until when its captures are good: then they are void, and a stage that needs them renews them or fails.")
    static let renewField = Field(
        "renew", FieldType<SourceLocation>.text, examples: ["link"],
        "The stage to run again when its captures have expired or the answer is 401, 403, 404 or 410.")
    static let discretionaryField = Field(
        "discretionary", .flag(),
        "Whether it also waits for a good moment when no person waits; by default what \"background\" says.")

    static let fields: [any AnyField] = [
        StageDefinition.idField, StageDefinition.kindField, serviceField, DecoratorDefinition.field, needsField,
        conditionField, forEachField, concurrencyField, toleranceField, stopField, warnField, costField, continuesField,
        RetryDefinition.field, deadlineField,
        estimateField, discretionaryField, expiresField, renewField,
    ]

    static func read(_ reader: ObjectReader) -> StageOptions {
        if !reader.has(forEachField.name) {
            for name in [toleranceField.name, stopField.name] {
                guard let place = reader.place(of: name) else { continue }
                reader.findings.warn(
                    place, "'\(name)' does nothing in a stage without 'forEach'",
                    hint: "take it out; '\(continuesField.name)' lets the others go on, and of many inputs "
                        + "\"batch\": { \"tolerate\": … } or --tolerate says how many may fail")
            }
        }
        return StageOptions(
            service: reader.optional(serviceField), decorators: reader.value(DecoratorDefinition.field, default: []),
            needs: reader.optional(needsField), condition: reader.optional(conditionField),
            forEach: reader.optional(forEachField), concurrency: reader.optional(concurrencyField),
            tolerance: reader.optional(toleranceField),
            stopsOnFailure: reader.value(stopField, default: .constant(false)),
            warnings: reader.value(warnField, default: []), cost: reader.optional(costField),
            continuesOnFailure: reader.value(continuesField, default: .constant(false)),
            retry: reader.value(RetryDefinition.field, default: RetryDefinition()),
            deadline: reader.optional(deadlineField), estimate: reader.optional(estimateField),
            isDiscretionary: reader.optional(discretionaryField),
            expires: reader.optional(expiresField), renew: reader.optional(renewField))
    }
}
