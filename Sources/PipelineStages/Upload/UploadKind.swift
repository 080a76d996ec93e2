import HTTPTypes
import JSONPath
import PipelineCore
import PipelineHTTP

/// The kind `upload`: sends a local file to a service.
enum UploadKind {
    /// The kind, sending over the network and knowing the decorators.
    /// - Parameter digests: takes the digests of files that were sent whole.
    static func make(
        network: Indirect<Network>, decorators: DecoratorCatalogue, digests: DigestCache = DigestCache()
    ) -> StageKind {
        let fields = UploadFields(decorators)
        return StageKind(name: "upload", summary: "Sends a local file to a service.", fields: fields.all) { reading in
            let requests = StageRequests(reading: reading, network: network, decorators: decorators)
            guard var stage = fields.stage(reading, requests) else { return nil }
            stage.digests = digests
            return AnyStage(
                stage, coding: .json, work: .transfer, cancelsWork: stage.removesCancelled,
                settlesSubmit: stage.requests.definition.settlesSubmit, writesFiles: false,
                first: stage.firstCheckpoint,
                standsAlone: { $0.phase != .pending })
        }
    }
}

extension RequestDefinition {
    /// Returns whether it makes an upload that other requests fill.
    func createsUpload(by mode: UploadProtocol) -> Bool {
        switch mode {
        case .resumable, .auto: true
        case .tus, .gcs: method == .post
        case .put, .multipart, .s3, .parts: false
        }
    }
}

extension RequestDefinition {
    /// True when the bytes of a part are its body, or a file of its form.
    fileprivate var carriesPart: Bool {
        if case .part = body { return true }
        let decorators = place?.node.json["with"]?.array ?? []
        let files = decorators.flatMap { $0["multipart"]?["files"]?.array ?? [] }
        return files.contains { $0["part"] == .bool(true) }
    }
}

/// The table of an upload's own fields.
private struct UploadFields: Sendable {
    let file = Field("file", FieldType<Template>.template(), required: true, "The local file to send.")
    let mode = Field(
        "protocol", FieldType<UploadProtocol>.word("protocol"), required: true, examples: ["put"],
        "How the file gets to the service.")
    let request: Field<RequestDefinition>
    let fields = Field("fields", FieldType<JSONTemplate>.json(), "With multipart: the form's fields before the file.")
    let fileField = Field(
        "fileField", FieldType<Template>.template(), default: "file", "With multipart: the name of the file's field.")
    let partSize = Field(
        "partSize", FieldType<Setting<Int64>>.size(), default: "8MiB",
        "How many bytes a crash may cost at most; with parts also what a capture of request gives, in bytes.")
    let session = Field(
        "session", FieldType<Selector>.selector, default: "header:Location",
        "With gcs: where the answer to the POST says where the session is.")
    let capture = Field("capture", FieldType<CaptureSet>.captures(), "Values from the answer that ends the upload.")
    let once: Field<OnceDefinition>
    let onUnknown = Field(
        "onUnknown", FieldType<RequestDefinition.OnUnknown>.word("way of ending an unknown submit"), default: "ask",
        "What to do when a lost answer can't be settled.")
    let parallel = Field(
        "parallel", FieldType<Setting<Int>>.count(1...64),
        "With s3 (8) and parts (1): the most parts at a time; how many are worth it is found while running.")
    let part: Field<(request: RequestDefinition, keep: ValueTable)>
    let ask: Field<AskDefinition>
    let complete: Field<RequestDefinition>
    let cancel: Field<RequestDefinition>

    init(_ decorators: DecoratorCatalogue) {
        request = Field(
            "request", RequestDefinition.type(decorators: decorators), examples: [["PUT": "/file"]],
            "The request that carries the file, or makes the upload; with tus by PATCH, and gcs by PUT, of one that is "
                + "there. May be left out with parts.")
        part = Field(
            "part", PartFields(decorators).type,
            "With parts: the request that sends one; \"part\": true stands for its bytes.")
        ask = Field(
            "ask", AskDefinition.type(decorators),
            "With parts: the request that finds out which byte comes next, asked before it goes on and after a refusal."
        )
        complete = Field(
            "complete", RequestDefinition.type(decorators: decorators),
            "The request that ends the upload behind its last byte; with parts self.parts.NAME are the parts' captures."
        )
        cancel = Field(
            "cancel",
            RequestDefinition.type(
                decorators: decorators, options: RequestDefinition.Options(declaresCaptures: false)),
            "With parts: the request that removes an upload that failed or was cancelled.")
        once = Field(
            "once", OnceDefinition.type(.request, decorators: decorators),
            "How a lost answer to the whole file, or to complete, is settled; without it the file, or a complete by PUT, "
                + "is sent again, and a complete by POST is unknown.")
    }

    var all: [any AnyField] {
        let own: [any AnyField] = [file, mode, request, fields, fileField, partSize, parallel, session]
        return own + [part, ask, complete, cancel, capture, once, onUnknown]
    }

    func stage(_ reading: StageReading, _ requests: StageRequests) -> UploadStage? {
        let reader = reading.reader
        let path = reader.required(file)
        let mode = reader.required(mode)
        var definition = readRequest(reader, mode)
        definition?.once = reader.optional(once)
        definition?.onUnknown = reader.value(onUnknown, default: .ask)
        let captures = reader.value(capture, default: CaptureSet())
        let own = definition?.capture ?? CaptureSet()
        let creates = mode.map { definition?.createsUpload(by: $0) == true } ?? false
        let parts = mode.flatMap { readParts($0, creation: own, requests, reading) }
        var last = mode == .parts ? nil : reader.optional(complete)
        // Those of a request that makes the upload are of its response, others of the one that ends it.
        let inherited = mode == .parts ? parts?.complete?.capture : creates ? nil : own
        if last == nil {
            definition?.capture = CaptureSet((inherited?.entries ?? []) + captures.entries)
        } else {
            definition?.capture = inherited ?? CaptureSet()
            let own = last?.capture.entries ?? []
            last?.capture = CaptureSet(own + captures.entries)
        }
        let (table, secrets) = reader.findings.countingSecrets { reader.optional(fields) }
        if secrets > 0 { definition?.uses.secretInBody = true }
        let field = reader.value(fileField, default: Template(constant: "file"))
        let size = reader.value(partSize, default: .constant(8 << 20))
        let location = reader.optional(session)
        if let mode { check(mode, reader) }
        guard let path, let mode, let definition else { return nil }
        // Where the service decides, the request that makes the upload may be the one that ends it.
        let first = mode == .auto && last == nil ? own.entries : []
        declareSubmitted(first + (last ?? definition).capture.entries, reading)
        check(definition, mode, reader)
        check(definition, endedBy: parts?.complete ?? last, requests, reading.findings)
        return UploadStage(
            file: path, mode: mode,
            requests: UploadRequests(
                requests: requests, definition: definition, fields: table,
                fieldsRange: reader.place(of: "fields")?.node.range ?? SourceRange(start: 0, end: 0), fileField: field),
            partSize: size, location: location, parts: parts, creation: creates ? own : CaptureSet(), complete: last)
    }

    /// Declares the captures of the response that ends the upload: a person gives them when that is lost.
    private func declareSubmitted(_ entries: [CaptureSet.Entry], _ reading: StageReading) {
        reading.declare(entries.map { CaptureDeclaration($0, isSubmitted: true) })
    }

    /// The request; one that sends nothing where the author's stage fills what another one has made.
    private func readRequest(_ reader: ObjectReader, _ mode: UploadProtocol?) -> RequestDefinition? {
        guard mode == .parts, !reader.has("request") else { return reader.required(request) }
        return RequestDefinition(.post, URLTemplate(captured: ""))
    }

    /// Returns what is said of the parts; nil for protocols without them.
    private func readParts(
        _ mode: UploadProtocol, creation: CaptureSet, _ requests: StageRequests, _ reading: StageReading
    ) -> PartsDefinition? {
        let reader = reading.reader
        var parts = PartsDefinition()
        parts.creates = reader.has("request")
        if let (request, keep) = reader.optional(part) { (parts.part, parts.keep) = (request, keep) }
        parts.ask = reader.optional(ask)
        if mode == .parts { parts.complete = reader.optional(complete) }
        parts.cancel = reader.optional(cancel)
        parts.parallel = reader.value(parallel, default: .constant(mode == .s3 ? 8 : 1))
        guard mode == .s3 || mode == .parts else { return nil }
        if mode == .parts { parts.creation = creation }
        if parts.ask != nil, let place = reader.place(of: "parallel") {
            reader.findings.report(
                place, "with 'ask' parts go one at a time, each from where the service is",
                hint: "leave out 'parallel', or 'ask'")
        }
        for request in [parts.part, parts.ask?.request, parts.cancel] {
            if let request { requests.check(request, reading.findings) }
        }
        if mode == .parts, let request = parts.part, let place = request.place, !request.carriesPart {
            reader.findings.report(
                place, "this request does not carry the part's bytes: nothing of the file would be sent",
                hint: "\"part\": true is the body, or in \"with\" a file of the form: "
                    + "{ \"multipart\": { \"files\": [{ \"name\": \"file\", \"part\": true }] } }")
        }
        if mode == .parts, !reader.has("part") {
            reader.findings.report(
                reader.place, "an upload in parts needs \"part\", the request that sends one",
                hint: "\"part\": { \"PUT\": \"/uploads/${{ self.id }}/${{ part.number }}\", \"part\": true }")
        }
        return parts
    }

    /// Beside a request that ends the upload, "once" is about that one: it is what carries the key.
    private func check(
        _ definition: RequestDefinition, endedBy end: RequestDefinition?, _ requests: StageRequests,
        _ findings: DiagnosticCollector
    ) {
        guard var end else { return requests.check(definition, findings) }
        var first = definition
        (first.once, end.once) = (nil, definition.once)
        requests.check(first, findings)
        requests.check(end, findings)
    }

    private func check(_ mode: UploadProtocol, _ reader: ObjectReader) {
        let owners: [(name: String, modes: Set<UploadProtocol>)] = [
            ("fields", [.multipart]), ("fileField", [.multipart]), ("session", [.gcs]),
            ("part", [.parts]), ("ask", [.parts]), ("cancel", [.parts]), ("parallel", [.parts, .s3]),
        ]
        for (name, modes) in owners where !modes.contains(mode) {
            guard let place = reader.place(of: name) else { continue }
            let words = modes.map(\.rawValue).sorted()
            let list = words.map { "'\($0)'" }.joined(separator: " and ")
            reader.findings.report(
                place, "'\(name)' belongs to the protocol \(list), and this is '\(mode.rawValue)'",
                hint: "take it out, or write \"protocol\": "
                    + words.map { "\"\($0)\"" }.joined(separator: " or "))
        }
    }

    private func check(_ definition: RequestDefinition, _ mode: UploadProtocol, _ reader: ObjectReader) {
        guard let place = reader.place(of: "request") else { return }
        if case .none = definition.body {
        } else if mode != .parts, mode != .gcs || definition.method == .put {
            reader.findings.report(
                place, "the request of an upload has no body of its own: the file is its body",
                hint: "fields beside the file go into \"fields\", with \"protocol\": \"multipart\"")
        }
        switch (mode, definition.method) {
        case (.parts, _): break
        case (_, .get), (_, .head), (_, .delete):
            reader.findings.report(
                place, "\(definition.method.rawValue) carries no file", hint: "use POST or PUT")
        case (.gcs, .post), (.gcs, .put), (.tus, .post), (.tus, .patch): break
        case (.s3, .put): break
        case (.s3, _):
            reader.findings.report(place, "an upload to S3 is a PUT of the object's path", hint: "use PUT")
        case (.tus, _):
            reader.findings.report(
                place,
                "an upload of tus is made by POST to the creation URL, or is there already and is written to by PATCH",
                hint: "use POST or PATCH")
        case (.gcs, _):
            reader.findings.report(
                place, "a session is made by POST, or is there already and is written to by PUT",
                hint: "use POST or PUT")
        default: break
        }
    }
}
