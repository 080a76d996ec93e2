import HTTPTypes
import JSONPath
import PipelineCore
import PipelineHTTP

/// Puts the requests of an upload together: the author's, and those that the protocol adds to it.
struct UploadRequests: Sendable {
    let requests: StageRequests
    /// The author's request, with the stage's captures.
    @Indirect private(set) var definition: RequestDefinition
    /// The fields of a form before the file.
    let fields: JSONTemplate?
    let fieldsRange: SourceRange
    /// The name of the file's own field.
    let fileField: Template

    /// Returns what is to be sent for a step of the session, its values put in.
    func render(
        _ request: UploadRequest, of source: SourceFile, in context: StageContext<UploadCheckpoint>
    ) async throws(StageFailure) -> RenderedRequest {
        var rendered = try await requests.render(
            definition(for: request), in: context, role: request.purpose.role)
        // A later value of a name replaces the author's: these fields are what the protocol is made of.
        for field in request.headers { rendered.description.headers[field.name] = field.value }
        try await addBody(request, source, to: &rendered, in: context)
        keepDecoratorsFit(for: request, in: &rendered)
        rendered.beginsAgain = request.purpose == .whole
        if request.purpose != .create, request.purpose != .whole { rendered.options.redirects = 0 }
        // A repetition that nobody asked for would put the same bytes behind themselves.
        if request.purpose != .ask, rendered.description.method != .put { rendered.options.freshConnection = true }
        return rendered
    }

    private func definition(for request: UploadRequest) -> RequestDefinition {
        var definition = definition
        if let url = request.url { definition.url = URLTemplate(captured: url) }
        if let method = request.method { definition.method = method }
        // An address that a service gave has its own query.
        if request.url != nil {
            definition.query = ValueTable()
            definition.uses.keepCredentials(of: definition)
        }
        guard request.purpose != .create, request.purpose != .whole else { return definition }
        definition.body = .none
        definition.uses.secretInBody = false
        definition.decorators.removeAll { $0.makesBody }
        definition.headers = ValueTable(
            definition.headers.entries.filter { entry in
                if request.keepsConditions, entry.name.lowercased().hasPrefix("if-") { return true }
                return !Self.isAboutContent(entry.name)
            })
        return definition
    }

    /// Fields of the author's request that say something of the file or of the answer to it, and nothing to the
    /// requests about the upload.
    private static func isAboutContent(_ name: String) -> Bool {
        let name = name.lowercased()
        if name.hasPrefix("x-amz-") {
            let ofAllRequests = ["request-payer", "expected-bucket-owner", "server-side-encryption-customer-"]
            return !ofAllRequests.contains { name.dropFirst(6).hasPrefix($0) }
        }
        let others = ["repr-digest", "digest", "prefer", "expect", "accept", "idempotency-key", "last-modified"]
        return ["content-", "if-", "upload-", "x-upload-"].contains { name.hasPrefix($0) } || others.contains(name)
    }

    private func addBody(
        _ request: UploadRequest, _ source: SourceFile, to rendered: inout RenderedRequest,
        in context: StageContext<UploadCheckpoint>
    ) async throws(StageFailure) {
        note(request.note, of: source, with: request.body, in: &rendered.description)
        switch request.body {
        case .none: return
        case .empty: rendered.description.body = .bytes([])
        case .file(let offset, let count):
            rendered.description.body = .file(path: source.path, offset: offset, length: count)
            try addChecksum(request.checksum, source, offset, count, to: &rendered, in: context)
        case .form:
            rendered.description.body = .multipart(
                MultipartBody(
                    boundary: rendered.decoration(over: requests.network, in: context).boundary,
                    parts: try await parts(ofForm: source, in: context)))
            return
        }
        if request.purpose == .whole {
            try addStorageChecksum(source, to: &rendered, in: context)
            rendered.description.setDefaultType("application/octet-stream", beside: rendered.decorators)
        }
    }

    private func addChecksum(
        _ algorithm: UploadChecksum?, _ source: SourceFile, _ offset: Int64, _ count: Int64,
        to rendered: inout RenderedRequest, in context: StageContext<UploadCheckpoint>
    ) throws(StageFailure) {
        guard let algorithm else { return }
        do throws(RequestFailure) {
            let digest = try algorithm.digest(of: source.path, from: offset, count: count)
            rendered.description.headers[.uploadChecksum] = "\(algorithm.rawValue) \(Base64Bytes.encode(digest))"
        } catch {
            throw .definite(StepFailure(error.message, place: context.facts.place))
        }
    }

    /// The checksum of an object of one part, where the author asked for one.
    private func addStorageChecksum(
        _ source: SourceFile, to rendered: inout RenderedRequest, in context: StageContext<UploadCheckpoint>
    ) throws(StageFailure) {
        guard let checksum = try StorageChecksum.wanted(in: rendered.description.headers, context.facts.place) else {
            return
        }
        rendered.description.headers[StorageChecksum.choice] = nil
        try checksum.add(to: &rendered, of: source.path, from: 0, count: source.size, context.facts.place)
    }

    private func note(
        _ note: UploadRequest.Note, of source: SourceFile, with body: UploadRequest.Body,
        in request: inout RequestDescription
    ) {
        switch note {
        case .none: return
        case .disposition: describe(source, in: &request.headers)
        case .metadata:
            // The type stands for the file; the creation itself has no content.
            let type = request.headers[.contentType] ?? "application/octet-stream"
            if case .file = body {
                request.headers[.contentType] = "application/offset+octet-stream"
            } else {
                request.headers[.contentType] = nil
            }
            guard request.headers[.uploadMetadata] == nil else { return }
            let name = Base64Bytes.encode(PathName.last(of: source.path).utf8)
            request.headers[.uploadMetadata] = "filename \(name),filetype \(Base64Bytes.encode(type.utf8))"
        case .contentFields:
            if request.body.isNone { request.body = .bytes([]) }
            if request.headers[.uploadContentType] == nil {
                request.headers[.uploadContentType] = "application/octet-stream"
            }
        }
    }

    /// Describes what the file is: the creation of an upload speaks for all its bytes (draft, section 4.2.1).
    private func describe(_ source: SourceFile, in headers: inout HTTPFields) {
        if headers[.contentType] == nil { headers[.contentType] = "application/octet-stream" }
        guard headers[.contentDisposition] == nil else { return }
        headers[.contentDisposition] = "inline; \(Self.fileNameParameter(PathName.last(of: source.path)))"
    }

    /// RFC 6266, appendix D: plain where it can be, else in the form of RFC 8187.
    static func fileNameParameter(_ name: String) -> String {
        let isPlain = name.utf8.allSatisfy { (32...126).contains($0) && $0 != 34 && $0 != 92 }
        return isPlain ? "filename=\"\(name)\"" : "filename*=UTF-8''\(PercentEncoding.component(name))"
    }

    private func parts(
        ofForm source: SourceFile, in context: StageContext<UploadCheckpoint>
    ) async throws(StageFailure) -> [MultipartBody.Part] {
        var parts = try await context.evaluate { scope throws(EvaluationFailure) -> [MultipartBody.Part] in
            guard let value = try fields?.evaluate(in: scope), !value.isNull else { return [] }
            guard case .object(let members) = value else {
                throw .wrong(
                    message: "\"fields\" is \(value.kindName), and a form is made of an object", hint: nil,
                    range: fieldsRange)
            }
            return ValueTable.pairs(of: members).map { .field($0.name, $0.value) }
        }
        let name = try await context.evaluate { scope throws(EvaluationFailure) in
            try fileField.evaluateText(in: scope)
        }
        parts.append(.file(name, path: source.path, length: source.size))
        return parts
    }

    /// Requests about an upload carry no form, no preference and no key of the request that made it; with a protocol
    /// that describes the file itself, none of its requests is a form.
    private func keepDecoratorsFit(for request: UploadRequest, in rendered: inout RenderedRequest) {
        // How much a service has is another answer each time: bytes behind a kept one would go to a wrong place.
        rendered.decorators.removeAll { $0 is Cache }
        if request.purpose == .whole {
            // Nothing can go on at an offset of what is no longer the file as it is.
            guard rendered.decorators.contains(where: { $0 is Multipart || $0 is Gzip }) else { return }
            for field in request.headers { rendered.description.headers[field.name] = nil }
            return
        }
        let isCreation = request.purpose == .create
        rendered.decorators.removeAll { decorator in
            // Offsets and parts are those of the file as it is.
            if decorator is Multipart || decorator is Gzip { return true }
            // Of an empty creation it would be taken for that of the file.
            if decorator is ContentDigest, case .file = request.body { return false }
            if decorator is ContentDigest { return request.purpose != .append }
            return !isCreation && (decorator is Prefer || decorator is IdempotencyKey)
        }
    }
}

extension UploadRequest.Purpose {
    /// Tells the idempotency keys of one upload's requests apart.
    fileprivate var role: String? { self == .create || self == .whole ? nil : "upload" }
}

/// The parts of local paths.
enum PathName {
    /// The last component.
    static func last(of path: String) -> String { path.split(separator: "/").last.map(String.init) ?? "file" }
}
