import HTTPTypes
import JSONPath
import PipelineCore
import PipelineHTTP

/// The requests of an upload in parts: S3's own, or those that the author describes.
///
/// S3's: `POST ?uploads` gives an `UploadId`; `PUT ?partNumber&uploadId` gives an `ETag`; `GET ?uploadId` lists what is
/// there, in pages; `POST ?uploadId` with all ETags ends it, `DELETE ?uploadId` removes it
/// (https://docs.aws.amazon.com/AmazonS3/latest/userguide/mpuoverview.html).
struct PartsRequests: Sendable {
    let attempt: UploadAttempt
    @Indirect private(set) var definition: PartsDefinition

    private var upload: UploadRequests { attempt.stage.requests }
    private var source: SourceFile { attempt.source }
    private var context: StageContext<UploadCheckpoint> { attempt.context }

    /// True if the response to the last part is that to the upload.
    var endsWithPart: Bool { !isStorage && definition.complete == nil }

    /// True for S3's own requests.
    var isStorage: Bool { definition.part == nil }

    func creation() async throws(StageFailure) -> RenderedRequest {
        let request = UploadRequest(purpose: .create, method: isStorage ? .post : nil)
        var rendered = try await upload.render(request, of: source, in: context)
        guard isStorage else { return rendered }
        rendered.description.query.append(("uploads", ""))
        // Conditions are about the object, which the completion makes.
        for field in rendered.description.headers where field.name.canonicalName.hasPrefix("if-") {
            rendered.description.headers[field.name] = nil
        }
        if rendered.description.headers[.contentType] == nil {
            rendered.description.headers[.contentType] = "application/octet-stream"
        }
        rendered.description.body = .bytes([])
        return rendered
    }

    /// Returns whether the upload, which another stage has made, goes on with fresh links to it.
    func awaitsFreshLinks(after failed: AttemptFailure) -> Bool {
        !definition.creates && context.facts.freshness.source != nil && !context.facts.hasFailed
            && failed.failure.saysVoid
    }

    /// The size of a part, which may be what the creation's response said.
    func partSize(after captures: JSONObject) async throws(StageFailure) -> Int64 {
        let setting = attempt.stage.partSize
        let size = try await context.evaluate(with: { scope in
            for member in captures { scope.own[member.name] = member.value }
        }) { scope throws(EvaluationFailure) in
            try setting.value(in: scope)
        }
        guard size > 0, (source.size - 1) / size < Self.mostParts else {
            throw .definite(
                StepFailure(
                    "parts of \(size) bytes are too small for a file of \(SizeText.describe(source.size)): "
                        + "\(Self.mostParts) parts at most",
                    hint: "\"partSize\" counts bytes: calculate with what the service says, as in "
                        + "\"${{ self.size * 1048576 }}\"",
                    place: context.facts.place))
        }
        return size
    }

    /// More of them no service takes (S3: 10,000), and all that are there are kept with each that comes.
    private static let mostParts: Int64 = 1_000_000

    func part(_ part: FilePart, _ state: PartsCheckpoint) async throws(StageFailure) -> RenderedRequest {
        if let definition = definition.part {
            var rendered = try await upload.requests.render(
                definition, in: context, role: "part-\(part.number)",
                part: .file(path: source.path, offset: part.offset, length: part.size), adjust: adding(part))
            // A service may be asked what it has after a lost response, and may refuse a repetition, or count it as
            // another part: libcurl must not repeat one by itself.
            rendered.options.freshConnection = true
            return rendered
        }
        let body = UploadRequest.Body.file(offset: part.offset, count: part.size)
        var rendered = try await storage(
            .put, body, [("partNumber", "\(part.number)"), ("uploadId", state.uploadID ?? "")])
        try state.checksum?.add(
            to: &rendered, of: source.path, from: part.offset, count: part.size, context.facts.place)
        return rendered
    }

    /// The values that a part's request and its rules may read.
    func adding(_ part: FilePart) -> (inout Scope) -> Void {
        let bytes = BodySegment.file(path: source.path, offset: part.offset, length: part.size)
        return { scope in
            scope.partDigest = bytes.digester
            scope.part = [
                "number": .number(JSONNumber(part.number)), "offset": .number(JSONNumber(Int(part.offset))),
                "size": .number(JSONNumber(Int(part.size))),
            ]
        }
    }

    /// Returns the sign in a response to a part that nothing but another upload helps; nil for none.
    ///
    /// The upload which the stage has made, or the link to it, may be no longer good; a 401 or 403 at the service's own
    /// address is one of credentials. And services that count bytes refuse a part that they have already.
    /// - Parameter isAgain: true when the part was sent before, and no response said what became of it.
    func loss(
        after response: HTTPExchangeResponse, to part: FilePart, isAgain: Bool, _ rendered: RenderedRequest
    ) async throws(StageFailure) -> UploadLoss.Sign? {
        guard let url = definition.part?.url else { return nil }
        let isOwn = definition.creates && url.readsCaptures && url.captureStages.isEmpty
        let isGone =
            isOwn
            && ([404, 410].contains(response.status)
                || url.beginsWithOwnCapture && [401, 403].contains(response.judgedStatus))
        let isRefused = isAgain && [400, 409, 416].contains(response.status)
        let answer = upload.requests.answer(of: response)
        guard isGone || isRefused,
            case .unexpected(let failure) = try await upload.requests.verdict(
                on: answer, of: rendered, in: context, adjust: adding(part)),
            isGone || upload.requests.tryFailure(failure, of: response, in: context).kind == .definite
        else { return nil }
        let isRenewed = await upload.requests.hasNewCredentials(for: response.status, of: rendered, in: context)
        let isOutdated = await upload.requests.isOutdated(answer, rendered, in: context)
        guard !isRenewed, !isOutdated else { return nil }
        return isGone ? .gone : .refused(part: part.number)
    }

    /// A part to S3 that was damaged on its way may be sent once more; nil for any other response.
    func damage(_ response: HTTPExchangeResponse, _ rendered: RenderedRequest) -> StageFailure? {
        guard response.status == 400 else { return nil }
        let answer = upload.requests.answer(of: response)
        let codes: Set<String> = ["BadDigest", "XAmzContentSHA256Mismatch", "XAmzContentChecksumMismatch"]
        guard let code = answer.xmlText("/Error/Code"), codes.contains(code) else { return nil }
        let name = upload.requests.name(of: rendered.description.url)
        let step = upload.requests.failure(
            "a part of the file was damaged on its way to \(name)", answer, of: rendered, hint: "it is sent again",
            in: context)
        return .failed(AttemptFailure(step, kind: .answered))
    }

    /// Returns what is kept of a part: its captures, and the author's values, which may be made of them.
    func receipt(of part: FilePart, captures: JSONObject) async throws(StageFailure) -> String {
        let keep = definition.keep
        let adding = adding(part)
        let values =
            keep.entries.isEmpty
            ? captures
            : try await context.evaluate(with: { scope in
                adding(&scope)
                for name in definition.part?.capture.names ?? [] { scope.own[name] = captures[name] ?? .null }
            }) {
                scope throws(EvaluationFailure) in
                var values = captures
                for entry in keep.entries { values[entry.name] = try entry.value.evaluate(in: scope) }
                return values
            }
        return JSON.object(values).text
    }

    func list(_ uploadID: String, after marker: Int) async throws(StageFailure) -> RenderedRequest {
        let page = marker > 0 ? [("part-number-marker", "\(marker)")] : []
        return try await storage(.get, .none, page + [("uploadId", uploadID)])
    }

    /// Asks for the whole object.
    func look() async throws(StageFailure) -> RenderedRequest { try await storage(.head, .none, []) }

    /// The request that ends the upload; nil when the last part does.
    func completion(_ state: PartsCheckpoint) async throws(StageFailure) -> RenderedRequest? {
        if isStorage {
            var rendered = try await storage(
                .post, .none, [("uploadId", state.uploadID ?? "")], keepsConditions: true)
            rendered.description.headers[.contentType] = "application/xml"
            rendered.description.body = .text(Self.document(state))
            return rendered
        }
        guard let complete = definition.complete else { return nil }
        let parts = Self.table(of: state.receipts, names: definition.names)
        var rendered = try await upload.requests.render(complete, in: context, role: "complete") {
            $0.own["parts"] = parts
        }
        // A repetition by libcurl would find the upload ended, and be refused.
        rendered.options.freshConnection = true
        return rendered
    }

    func cancellation(_ uploadID: String?) async throws(StageFailure) -> RenderedRequest? {
        if isStorage {
            guard let uploadID else { return nil }
            return try await storage(.delete, .none, [("uploadId", uploadID)])
        }
        guard let cancel = definition.cancel else { return nil }
        return try await upload.requests.render(cancel, in: context, role: "cancel")
    }

    private func storage(
        _ method: HTTPRequest.Method, _ body: UploadRequest.Body, _ query: [(name: String, value: String)],
        keepsConditions: Bool = false
    ) async throws(StageFailure) -> RenderedRequest {
        var request = UploadRequest(purpose: .append, method: method, body: body)
        request.keepsConditions = keepsConditions
        var rendered = try await upload.render(request, of: source, in: context)
        rendered.description.query += query
        // All of these do the same when they are sent twice, but for an end with a condition: the second would find the
        // object that the first has made.
        rendered.options.freshConnection = keepsConditions
        return rendered
    }

    /// The body of `CompleteMultipartUpload`.
    private static func document(_ state: PartsCheckpoint) -> String {
        let parts = state.receipts.sorted { $0.key < $1.key }.map { number, tag in
            var checksum = ""
            if let algorithm = state.checksum, let value = state.checksums?[number] {
                checksum = "<\(algorithm.element)>\(escaped(value))</\(algorithm.element)>"
            }
            return "<Part><PartNumber>\(number)</PartNumber><ETag>\(escaped(tag))</ETag>\(checksum)</Part>"
        }
        return "<CompleteMultipartUpload xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">\(parts.joined())"
            + "</CompleteMultipartUpload>"
    }

    static func escaped(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    /// `self.parts`: for each name the values of all parts in their order.
    private static func table(of receipts: [Int: String], names: [String]) -> JSON {
        let parts = receipts.sorted { $0.key < $1.key }.map { (try? JSON.parse($0.value)) ?? .null }
        return .object(JSONObject(names.map { name in (name, .array(parts.map { $0[name] ?? .null })) }))
    }
}
