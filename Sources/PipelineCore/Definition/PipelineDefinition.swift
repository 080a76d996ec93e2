package import JSONPath

/// A pipeline as its document says it: read and in itself right, its references not yet checked.
package struct PipelineDefinition: Sendable {
    package let source: SourceText
    package let name: String
    package let summary: String?
    package let inputs: [InputDefinition]
    package let services: [ServiceDefinition]
    package let stages: [StageDefinition]
    /// Stages that run in order when the job has ended.
    package let finally: [StageDefinition]
    /// Defaults of all stages.
    package let defaults: StageDefaults
    package let background: BackgroundDefinition
    package let notifications: [NotifyDefinition]
    /// The rules by which it is done over many inputs; nil where the document does not say.
    package let batch: BatchDefinition?
    /// The names that `inputs` gives, those with mistakes too; nil when they can't be known.
    let inputNames: [String]?
    /// True if `services` is there and is no object.
    let hasUnreadableServices: Bool
}

/// The settings that a document may give once for all its stages.
package struct StageDefaults: Sendable {
    /// Decorators of each request, the outermost.
    package let decorators: [DecoratorDefinition]
    package let retry: RetryDefinition
    package let deadline: Setting<Duration>?
    /// The number of items of a `forEach` that run at a time.
    package let concurrency: Setting<Int>?
}

extension PipelineDefinition {
    static let version = Field(
        "pipeline", .formatVersion, required: true, examples: [1], "The version of the format, the number 1.")
    static let nameField = Field(
        "name", .name(.pipeline), required: true, examples: ["my-pipeline"],
        "The pipeline's name; history, budgets and estimates are kept under it.")
    static let summaryField = Field("description", .string, "What the pipeline is for.")
    static let inputsField = Field(
        "inputs", .map(of: InputDefinition.type), examples: [["video": ["type": "file"]]],
        "The values that a run is given, by name.")
    static let servicesField = Field(
        "services", .map(of: ServiceDefinition.type), examples: [["api": ["url": "https://api.example.com"]]],
        "The services that stages talk to, by name.")
    static let stagesField = Field(
        "stages", .array(of: StageDefinition.type, atLeast: 1), required: true,
        "What is done: an array of stages, each an object with \"id\" and \"kind\".")
    static let finallyField = Field(
        "finally", .array(of: StageDefinition.type), "Stages that run in order when the job has ended.")
    static let deadlineField = Field(
        "deadline", .duration(.service).warning(below: .milliseconds(1)),
        "The longest that a stage may take, over restarts.")
    static let concurrencyField = Field(
        "concurrency", .count(1...1024, roots: .service), default: 4, "Items of a forEach that run at a time.")
    static let backgroundField = Field(
        "background", BackgroundDefinition.type,
        "How a job behaves when no person waits for it: in the background, and where it is stated in a script too.")
    static let notifyField = Field("notify", .array(of: NotifyDefinition.type), "Who is told of what.")

    static let batchField = Field("batch", BatchDefinition.type, "How the document is done over many inputs.")

    static let fields: [any AnyField] = [
        version, nameField, summaryField, inputsField, servicesField, stagesField, finallyField,
        DecoratorDefinition.field, RetryDefinition.documentField, deadlineField, concurrencyField, backgroundField,
        notifyField, batchField,
    ]

    /// Reads a document in spite of its mistakes, which are in the findings, those of its syntax too; nil when nothing
    /// is left of it that could have more.
    static func read(_ source: SourceText, findings: DiagnosticCollector) -> PipelineDefinition? {
        let reading = JSONNode.read(source)
        if !reading.errors.isEmpty, let range = otherFormat(source) {
            findings.report(
                range: range, pointer: "", "this is no JSON: it looks like YAML",
                hint:
                    "a pipeline is one JSON object, as 'pipeline init' writes one; 'yq -o json FILE' makes JSON of YAML"
            )
            return nil
        }
        guard findings.report(reading.errors), let node = reading.node,
            let reader = ObjectReader(SourceLocation(node), table: FieldTable(fields), findings: findings)
        else { return nil }
        return read(reader, source: source)
    }

    /// Returns where a document of YAML begins; nil when it looks like JSON.
    private static func otherFormat(_ source: SourceText) -> SourceRange? {
        let text = String(decoding: source.bytes.prefix(4096), as: UTF8.self)
        guard let line = text.split(whereSeparator: \.isNewline).first(where: { !$0.hasPrefix("#") && !$0.isEmpty }),
            line.hasPrefix("---") || line.wholeMatch(of: /[A-Za-z_][\w-]*:(\s.*)?/) != nil
        else { return nil }
        let start = text.utf8.distance(from: text.startIndex, to: line.startIndex)
        return SourceRange(start: start, end: min(start + line.utf8.count, source.bytes.count))
    }

    private static func read(_ reader: ObjectReader, source: SourceText) -> PipelineDefinition {
        _ = reader.required(version)
        let name = reader.required(nameField)
        let summary = reader.optional(summaryField)
        let inputs = reader.value(inputsField, default: []).map { $0.value.named($0.name) }
        reader.findings.secretInputs = Set(inputs.filter(\.isSecret).map(\.name))
        let services = reader.value(servicesField, default: []).map { $0.value.named($0.name) }
        let stages = reader.required(stagesField) ?? []
        let finally = reader.value(finallyField, default: [])
        let defaults = StageDefaults(
            decorators: reader.value(DecoratorDefinition.field, default: []),
            retry: reader.value(RetryDefinition.documentField, default: RetryDefinition()),
            deadline: reader.optional(deadlineField), concurrency: reader.optional(concurrencyField))
        let background = reader.value(backgroundField, default: .standard)
        let notifications = reader.value(notifyField, default: [])
        let batch = reader.optional(batchField)
        batch?.key?.reportSecrets(among: inputs, to: reader.findings)
        reportRepeatedIDs(stages + finally, to: reader.findings)
        reportNames(of: reader)
        TemplateSlips(root: reader.place, findings: reader.findings, inputs: inputs.map(\.name)).check()
        reader.finish()
        return PipelineDefinition(
            source: source, name: name ?? "", summary: summary, inputs: inputs, services: services, stages: stages,
            finally: finally, defaults: defaults, background: background, notifications: notifications, batch: batch,
            inputNames: reader.has("inputs") ? reader.place(of: "inputs")?.members.map { $0.map(\.member.name) } : [],
            hasUnreadableServices: reader.has("services") && reader.place(of: "services")?.members == nil)
    }

    private static func reportRepeatedIDs(_ stages: [StageDefinition], to findings: DiagnosticCollector) {
        var first: [String: StageDefinition] = [:]
        for stage in stages where !stage.id.isEmpty {
            if let other = first[stage.id] {
                findings.report(
                    stage.idPlace, "there is a stage '\(stage.id)' already",
                    hint: "give each stage its own id; the first is at \(other.place.pointer)")
            } else {
                first[stage.id] = stage
            }
        }
    }

    /// Names of inputs that no command line could give, and services without a name.
    private static func reportNames(of reader: ObjectReader) {
        for (key, noun) in [("inputs", "an input"), ("services", "a service")] {
            for (member, place) in reader.place(of: key)?.members ?? [] {
                let message: String? =
                    if member.name.isEmpty { "\(noun) needs a name" } else if key == "inputs", member.name.contains("=")
                    {
                        "the name of an input cannot hold '='"
                    } else { nil }
                guard let message else { continue }
                let hint =
                    key == "inputs" ? "its value is given as -i NAME=VALUE" : "stages name it: \"service\": \"NAME\""
                reader.findings.report(range: member.nameRange, pointer: place.pointer, message, hint: hint)
            }
        }
    }
}

extension FieldType where Value == Void {
    /// The version of the format, which is 1.
    static var formatVersion: FieldType {
        FieldType(schema: ["const": 1]) { place, findings in
            guard case .number(let number) = place.node.content else {
                findings.report(
                    place, "the version of the format is the number 1, not \(place.node.json.kindName)",
                    hint: "write \"pipeline\": 1")
                return nil
            }
            if number.int == 1 { return () }
            findings.report(
                place, "this program reads version 1 of the format, not \(number.literal)",
                hint: (number.int ?? 0) > 1
                    ? "a newer version of this program may read it; or write \"pipeline\": 1" : "write \"pipeline\": 1")
            return nil
        }
    }
}
