public import JSONPath

/// A pipeline as its document says it: read and in itself right, its references not yet checked.
public struct PipelineDefinition: Sendable {
    public let source: SourceText
    public let name: String
    public let summary: String?
    public let inputs: [InputDefinition]
    public let services: [ServiceDefinition]
    public let stages: [StageDefinition]
    /// Stages that run in order when the job has ended.
    public let finally: [StageDefinition]
    /// Defaults of all stages.
    public let defaults: StageDefaults
}

/// What a document may say once for all its stages.
public struct StageDefaults: Sendable {
    /// Decorators of each request, the outermost.
    public let decorators: [DecoratorDefinition]
    public let retry: RetryDefinition
    public let deadline: Setting<Duration>?
    /// How many items of a `forEach` run at a time.
    public let concurrency: Setting<Int>?
}

extension PipelineDefinition {
    static let version = Field("pipeline", .integer(1...1), required: true, "The version of the format, the number 1.")
    static let nameField = Field(
        "name", .name(.pipeline), required: true,
        "The pipeline's name; history, budgets and estimates are kept under it.")
    static let summaryField = Field("description", .string, "What the pipeline is for.")
    static let inputsField = Field(
        "inputs", .map(of: InputDefinition.type), "The values that a run is given, by name.")
    static let servicesField = Field(
        "services", .map(of: ServiceDefinition.type), "The services that stages talk to, by name.")
    static let stagesField = Field(
        "stages", .array(of: StageDefinition.type, atLeast: 1), required: true, "The stages, in order.")
    static let finallyField = Field(
        "finally", .array(of: StageDefinition.type), "Stages that run in order when the job has ended.")
    static let backgroundField = Field("background", .any, "When the job may run without a person.")
    static let notifyField = Field("notify", .any, "Who is told of what.")

    static let fields: [any AnyField] = [
        version, nameField, summaryField, inputsField, servicesField, stagesField, finallyField,
        DecoratorDefinition.field, RetryDefinition.field, StageOptions.deadlineField,
        StageOptions.concurrencyField, backgroundField, notifyField,
    ]

    /// Reads a document; nil when what is left of it can't be planned. Mistakes are in the findings; a text that is
    /// no JSON throws.
    static func read(_ source: SourceText, findings: Findings) throws(DefinitionError) -> PipelineDefinition? {
        let node = try parse(source)
        guard let reader = ObjectReader(Place(node), fields: fields, findings: findings) else { return nil }
        return read(reader, source: source)
    }

    private static func parse(_ source: SourceText) throws(DefinitionError) -> JSONNode {
        do {
            return try JSONNode.parse(source)
        } catch {
            let diagnostics = error.errors.map {
                Diagnostic(range: $0.range, pointer: "", message: $0.message, hint: $0.hint)
            }
            throw DefinitionError(source: source, diagnostics: diagnostics)
        }
    }

    private static func read(_ reader: ObjectReader, source: SourceText) -> PipelineDefinition? {
        _ = reader.required(version)
        let name = reader.required(nameField)
        let inputs = reader.value(inputsField, default: []).map { $0.value.named($0.name) }
        let services = reader.value(servicesField, default: []).map { $0.value.named($0.name) }
        let stages = reader.required(stagesField)
        let finally = reader.value(finallyField, default: [])
        let defaults = StageDefaults(
            decorators: reader.value(DecoratorDefinition.field, default: []),
            retry: reader.value(RetryDefinition.field, default: RetryDefinition()),
            deadline: reader.optional(StageOptions.deadlineField),
            concurrency: reader.optional(StageOptions.concurrencyField))
        reportRepeatedIDs((stages ?? []) + finally, to: reader.findings)
        reader.finish()
        guard let name, let stages else { return nil }
        return PipelineDefinition(
            source: source, name: name, summary: reader.optional(summaryField), inputs: inputs, services: services,
            stages: stages, finally: finally, defaults: defaults)
    }

    private static func reportRepeatedIDs(_ stages: [StageDefinition], to findings: Findings) {
        var seen: Set<String> = []
        for stage in stages where !seen.insert(stage.id).inserted {
            findings.report(stage.idPlace, "the id '\(stage.id)' is used twice", hint: "give each stage its own id")
        }
    }
}
