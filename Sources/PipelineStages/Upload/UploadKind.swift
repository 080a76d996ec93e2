import HTTPTypes
import JSONPath
import PipelineCore
import PipelineHTTP

/// The kind `upload`: sends a local file to a service.
enum UploadKind {
    /// The kind, sending over the network and knowing the decorators.
    static func make(network: Network, decorators: DecoratorCatalogue) -> StageKind {
        let fields = UploadFields(decorators)
        return StageKind(name: "upload", summary: "Sends a local file to a service.", fields: fields.all) { reading in
            let requests = StageRequests(reading: reading, network: network, decorators: decorators)
            return fields.stage(reading, requests).map { AnyStage($0, coding: .json) }
        }
    }
}

/// The table of an upload's own fields.
private struct UploadFields: Sendable {
    let file = Field("file", FieldType<Template>.template(), required: true, "The local file to send.")
    let mode = Field(
        "protocol", FieldType<UploadProtocol>.word("protocol"), required: true, "How the file gets to the service.")
    let request: Field<RequestDefinition>
    let fields = Field("fields", FieldType<JSONTemplate>.json(), "With multipart: the form's fields before the file.")
    let fileField = Field(
        "fileField", FieldType<Template>.template(), default: "file", "With multipart: the name of the file's field.")
    let partSize = Field(
        "partSize", FieldType<Setting<Int64>>.size(), default: "8MiB", "How many bytes a crash may cost at most.")
    let capture = Field("capture", FieldType<CaptureSet>.captures(), "Values from the answer that ends the upload.")
    let once: Field<OnceDefinition>
    let onUnknown = Field(
        "onUnknown", FieldType<RequestDefinition.OnUnknown>.word("way of ending an unknown submit"), default: "ask",
        "What to do when a lost answer can't be settled.")
    /// Keys of protocols that are not available.
    let later: [Field<Never>] = ["parallel", "session", "part", "complete", "cancel"].map { name in
        let message = "'\(name)' is not available in this version"
        return Field(name, .refused(message), message)
    }

    init(_ decorators: DecoratorCatalogue) {
        request = Field(
            "request", RequestDefinition.type(decorators: decorators), required: true,
            "With put and multipart the request that carries the file, with resumable the one that makes the upload.")
        once = Field(
            "once", OnceDefinition.type(.request, decorators: decorators),
            "How a lost answer to the whole file is settled; without it the file is sent again.")
    }

    var all: [any AnyField] {
        let own: [any AnyField] = [
            file, mode, request, fields, fileField, partSize, capture, once, onUnknown,
        ]
        return own + later
    }

    func stage(_ reading: StageReading, _ requests: StageRequests) -> UploadStage? {
        let reader = reading.reader
        let path = reader.required(file)
        let mode = reader.required(mode)
        var definition = reader.required(request)
        definition?.once = reader.optional(once)
        definition?.onUnknown = reader.value(onUnknown, default: .ask)
        let captures = reader.value(capture, default: CaptureSet())
        if let own = definition?.capture { definition?.capture = CaptureSet(own.entries + captures.entries) }
        let table = reader.optional(fields)
        let field = reader.value(fileField, default: Template(constant: "file"))
        let size = reader.value(partSize, default: .constant(8 << 20))
        if let mode, !mode.isAvailable, let place = reader.place(of: "protocol") {
            reading.findings.report(
                place, "the protocol '\(mode.rawValue)' is not available in this version",
                hint: "use put, multipart or resumable")
        } else {
            for field in later { _ = reader.optional(field) }
        }
        if let mode { check(mode, reader) }
        guard let path, let mode, let definition else { return nil }
        check(definition, reader)
        requests.check(definition, reading.findings)
        return UploadStage(
            file: path, mode: mode,
            requests: UploadRequests(
                requests: requests, definition: definition, fields: table,
                fieldsRange: reader.place(of: "fields")?.node.range ?? SourceRange(start: 0, end: 0), fileField: field),
            partSize: size)
    }

    private func check(_ mode: UploadProtocol, _ reader: ObjectReader) {
        guard mode != .multipart else { return }
        for name in ["fields", "fileField"] {
            guard let place = reader.place(of: name) else { continue }
            reader.findings.report(
                place, "'\(name)' belongs to the protocol 'multipart', and this is '\(mode.rawValue)'")
        }
    }

    private func check(_ definition: RequestDefinition, _ reader: ObjectReader) {
        guard let place = reader.place(of: "request") else { return }
        if case .none = definition.body {
        } else {
            reader.findings.report(
                place, "the request of an upload has no body of its own: the file is its body",
                hint: "fields beside the file go into \"fields\", with \"protocol\": \"multipart\"")
        }
        if definition.method == .get || definition.method == .head || definition.method == .delete {
            reader.findings.report(
                place, "\(definition.method.rawValue) carries no file", hint: "use POST or PUT")
        }
    }
}
