import JSONPath
import PipelineCore

/// Kinds of stage with the shapes of the real ones, for tests of reading and planning: no stage of them ever runs.
enum SampleKinds {
    static let catalogue = Catalogue(
        kinds: [upload, compute, download, request, write, wait], decoratorSchema: decoratorSchema,
        checkDecorators: { definitions, findings in
            for definition in definitions { check(definition, .service, findings) }
        })

    // MARK: - Kinds

    private static let file = Field("file", FieldType<Template>.template(), required: true, "The local file.")
    private static let transfer = Field(
        "protocol", FieldType<TransferProtocol>.word("upload protocol"), default: "auto", "How it is sent.")
    private static let partSize = Field("partSize", .size(), default: "8MiB", "The size of a part.")
    private static let requestField = Field("request", SampleRequest.type(), required: true, "The request.")
    private static let destination = Field("to", FieldType<Template>.template(), required: true, "Where it is written.")
    private static let captureField = Field("capture", FieldType<CaptureSet>.captures, "Values from the last answer.")

    private enum TransferProtocol: String, CaseIterable { case put, multipart, tus, resumable, auto }

    static let upload = kind("upload", "Sends a file.", [file, transfer, partSize, requestField, captureField]) {
        reader in
        _ = reader.required(file)
        _ = reader.optional(transfer)
        _ = reader.optional(partSize)
        _ = reader.optional(captureField)
        return reader.required(requestField) != nil
    }

    private static let submit = Field("submit", SampleRequest.type(submitted: true), "The request that starts it.")
    private static let poll = Field("poll", SamplePoll.type, "The request that watches it.")
    private static let cancel = Field("cancel", SampleRequest.type(), "The request that stops it.")

    static let compute = kind("compute", "Waits for a computation.", [submit, poll, cancel, captureField]) { reader in
        _ = reader.optional(captureField)
        let before = reader.findings.diagnostics.count
        _ = reader.optional(submit)
        _ = reader.optional(poll)
        _ = reader.optional(cancel)
        return reader.findings.diagnostics.count == before
    }

    private static let overwrite = Field("overwrite", .boolean, default: false, "Whether a file may be replaced.")
    private static let parallel = Field("parallel", .count(1...16), default: 1, "Ranges at a time.")

    private static let digest = Field("sha256", FieldType<Template>.template(), "Its digest.")
    private static let verify = Field(
        "verify", FieldType<Template>.object([digest]) { $0.optional(digest) }, "What it must be.")

    static let download = kind(
        "download", "Fetches a file.", [requestField, destination, overwrite, parallel, verify]
    ) { reader in
        _ = reader.optional(parallel)
        _ = reader.optional(verify)
        _ = reader.optional(overwrite)
        _ = reader.optional(parallel)
        reader.findings.declare(CaptureDeclaration(name: "path"))
        let request = reader.required(requestField)
        return reader.required(destination) != nil && request != nil
    }

    static let request = kind(
        "request", "Sends one request.",
        [requestField, Field("to", FieldType<Template>.template(), "A file for the body.")]
    ) { reader in reader.required(requestField) != nil }

    private static let text = Field("text", FieldType<Template>.template(), "The content.")
    private static let json = Field("json", FieldType<JSONTemplate>.json(), "The content as JSON.")
    private static let oneContent: JSON = ["oneOf": [["required": ["text"]], ["required": ["json"]]]]

    static let write = StageKind(
        name: "write", summary: "Writes a file.", fields: [destination, text, json], constraints: oneContent
    ) { reading in
        let reader = reading.reader
        _ = reader.optional(text)
        _ = reader.optional(json)
        if reader.has("text") == reader.has("json") {
            reader.findings.report(reader.place, "a write stage has either \"text\" or \"json\"")
            return nil
        }
        return reader.required(destination).map { _ in IdleStage.erased }
    }

    private static let duration = Field("for", .duration(), "How long.")
    static let wait = kind("wait", "Waits.", [duration]) { reader in
        reader.has("for") && reader.optional(duration) != nil
    }

    private static func kind(
        _ name: String, _ summary: String, _ fields: [any AnyField], read: @escaping @Sendable (ObjectReader) -> Bool
    ) -> StageKind {
        StageKind(name: name, summary: summary, fields: fields) { reading in
            for definition in reading.decorators.joined() { check(definition, .request, reading.findings) }
            return read(reading.reader) ? IdleStage.erased : nil
        }
    }

    // MARK: - Decorators

    private static let bearer = FieldType<Template>.template(.request)
    private static let names = ["bearer", "headers"]
    private static let decoratorSchema: JSON = [
        "type": "object", "minProperties": 1, "maxProperties": 1,
        "properties": ["bearer": ["type": "string"], "headers": ["type": "object"]], "additionalProperties": false,
    ]

    static func check(_ definition: DecoratorDefinition, _ roots: AllowedRoots, _ findings: DiagnosticCollector) {
        switch definition.name {
        case "bearer": _ = FieldType<Template>.template(roots).read(definition.configuration, findings)
        case "headers":
            _ = FieldType<[Named<JSONTemplate>]>.map(of: .json(roots)).read(definition.configuration, findings)
        default:
            findings.report(
                range: definition.nameRange, pointer: definition.configuration.pointer,
                "there is no decorator called '\(definition.name)'",
                hint: Suggestion.nearest(to: definition.name, among: names).map { "did you mean '\($0)'?" }
                    ?? "known decorators: " + names.joined(separator: ", "))
        }
    }
}

/// A stage that does nothing.
private struct IdleStage: Stage {
    typealias Checkpoint = Int

    func resume(from checkpoint: Int?, in context: StageContext<Int>) async throws(StageFailure) -> StageOutcome<Int> {
        .finished([:])
    }

    static let erased = AnyStage(IdleStage(), coding: CheckpointCoding(encode: { _ in [] }, decode: { _ in 0 }))
}
