import JSONPath
import PipelineCore
import PipelineHTTP

/// The kind `download`: gets a file, verified and whole or not at all.
enum DownloadKind {
    /// The kind, sending over the network and knowing the decorators.
    static func make(network: Indirect<Network>, decorators: DecoratorCatalogue) -> StageKind {
        let fields = DownloadFields(decorators)
        return StageKind(
            name: "download", summary: "Gets a file from a service, verified and whole or not at all.",
            fields: fields.all
        ) { reading in
            var requests = StageRequests(reading: reading, network: network, decorators: decorators)
            requests.acceptsCodings = false
            return fields.stage(reading, requests).map {
                AnyStage($0, coding: .json, work: .transfer, standsAlone: { $0.verified != nil })
            }
        }
    }
}

/// The table of a download's own fields.
private struct DownloadFields: Sendable {
    let request: Field<RequestDefinition>
    let to = Field(
        "to", FieldType<Template>.outputPath(hasFolders: true), required: true,
        "The file to write, or with a final / the folder: the name then comes from the answer.")
    let verify = Field("verify", VerifyDefinition.type, "What the file must be.")
    let digest = Field(
        "digest", FieldType<Setting<Bool>>.flag(), default: false,
        "Whether its SHA-256 is made although neither 'verify' nor an expression asks for it.")
    let overwrite = Field(
        "overwrite", FieldType<Setting<Bool>>.flag(), default: false,
        "Whether an existing file is replaced, unless this job wrote it, and with 'unpack' an existing folder with all "
            + "that is in it; else a different one is an error, and what came waits as TO.part.")
    let capture = Field(
        "capture", FieldType<CaptureSet>.captures(),
        "Values from the answer, beside path, bytes and sha256; of its body when it has at most 1 MiB.")
    let parallel = Field(
        "parallel", FieldType<Setting<Int>>.count(1...64), default: 1,
        "The most ranges at a time; how many are worth it is found while running.")
    let select = Field("select", FieldType<Selector>.selector, "Only what it finds in the body is written.")
    let unpack = Field(
        "unpack", UnpackDefinition.type,
        "Unpacks what came: into the folder \"to\", all or nothing; a single compressed file into the file.")

    init(_ decorators: DecoratorCatalogue) {
        request = Field(
            "request", RequestDefinition.type(decorators: decorators), required: true, examples: [["GET": "/file"]],
            "The request whose answer is the file.")
    }

    var all: [any AnyField] {
        [request, to, verify, digest, overwrite, capture, parallel, select, unpack]
    }

    func stage(_ reading: StageReading, _ requests: StageRequests) -> DownloadStage? {
        let reader = reading.reader
        reading.declare(["path", "bytes", "sha256"].map { CaptureDeclaration(name: $0) })
        var definition = reader.required(request)
        let place = reader.required(to)
        let wanted = reader.value(verify, default: VerifyDefinition())
        let replaces = reader.value(overwrite, default: .constant(false))
        let captures = reader.value(capture, default: CaptureSet())
        let digest = reader.value(digest, default: .constant(false))
        let packing = reader.optional(unpack)
        let streams = reader.value(parallel, default: .constant(1))
        let selector = reader.optional(select)
        checkSelection(reader, wanted)
        if let own = definition?.capture { definition?.capture = CaptureSet(own.entries + captures.entries) }
        guard let definition, let place else { return nil }
        requests.check(definition, reading.findings)
        return DownloadStage(
            requests: requests, definition: definition, to: place, verify: wanted, overwrites: replaces,
            parallel: streams, digest: digest, select: selector, unpack: packing)
    }

    private func checkSelection(_ reader: ObjectReader, _ wanted: VerifyDefinition) {
        guard reader.has("select") else { return }
        if let place = reader.place(of: "parallel") {
            reader.findings.report(
                place, "'parallel' has no meaning beside 'select', for which the body is kept in memory",
                hint: "leave it out")
        }
        if let place = reader.place(of: "unpack") {
            reader.findings.report(
                place, "'unpack' has no meaning beside 'select', which writes a value from the body",
                hint: "leave one of them out")
        }
        if wanted.header != nil, let place = reader.place(of: "verify") {
            reader.findings.report(
                place, "a digest in a header is about the whole body, and 'select' writes a part of it",
                hint: "verify what is written by its \"sha256\" or \"size\"")
        }
    }
}

extension VerifyDefinition {
    private static let digestField = Field(
        "sha256", FieldType<Template>.template(), "The SHA-256, in hex or base64; by null nothing is verified.")
    private static let sizeField = Field(
        "size", FieldType<JSONTemplate>.json(), "The length in bytes; by null nothing is verified.")
    private static let headerField = Field(
        "header", FieldType<String>.string, "A header of the answer that gives a digest, in hex or base64.")

    static var type: FieldType<VerifyDefinition> {
        .object([digestField, sizeField, headerField]) { reader in
            var definition = VerifyDefinition()
            definition.sha256 = reader.optional(digestField)
            definition.size = reader.optional(sizeField)
            definition.header = reader.optional(headerField)
            let none = SourceRange(start: 0, end: 0)
            definition.sha256Range = reader.place(of: "sha256")?.node.range ?? none
            definition.sizeRange = reader.place(of: "size")?.node.range ?? none
            if let name = definition.header, let mistake = HeaderName.mistake(name),
                let place = reader.place(of: "header")
            {
                reader.findings.report(place, mistake.message, hint: mistake.hint)
            }
            definition.check(reader)
            return definition
        }
    }
}
