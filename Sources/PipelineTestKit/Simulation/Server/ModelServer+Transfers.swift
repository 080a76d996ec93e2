import PipelineSimulation
import HTTPTypes
import JSONPath
import PipelineCore
import PipelineHTTP
import Synchronization

/// Resumable uploads (draft-ietf-httpbis-resumable-upload, interop version 8, what a client needs of it) and results
/// that can be had in ranges.
extension ModelServer {
    func upload(_ id: String?, _ request: ArrivedRequest) -> HTTPExchangeResponse {
        switch (request.description.method, id) {
        case (.post, nil): create(request)
        case (.head, let id?): offset(of: id)
        case (.patch, let id?): append(request, to: id)
        case (.delete, let id?):
            state.withLock { state in
                state.uploads.removeValue(forKey: id) == nil
                    ? Self.problem(404, "no such upload") : HTTPExchangeResponse(status: 204)
            }
        default: Self.problem(405, "not so")
        }
    }

    /// A name that bytes have by their content alone: what an upload's answer calls `content`.
    package static func name(of bytes: [UInt8]) -> String {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        return "\(bytes.count) bytes, \(hash)"
    }

    /// Every upload that is complete.
    package var completeUploads: [[UInt8]] {
        state.withLock { state in state.uploads.values.filter(\.isComplete).map(\.bytes) }
    }

    private func create(_ request: ArrivedRequest) -> HTTPExchangeResponse {
        let isLast = Self.field("Upload-Complete", request) == "?1" && request.isWhole
        let length = Self.field("Upload-Length", request).flatMap { Int($0) }
        let id = state.withLock { state in
            let id = "u\(state.uploads.count + 1)"
            state.uploads[id] = Upload(bytes: request.body, isComplete: isLast, length: length)
            return id
        }
        return answer(of: id)
    }

    private func append(_ request: ArrivedRequest, to id: String) -> HTTPExchangeResponse {
        let offset = Self.field("Upload-Offset", request).flatMap { Int($0) }
        let isLast = Self.field("Upload-Complete", request) == "?1"
        let problem: HTTPExchangeResponse? = state.withLock { state in
            guard var upload = state.uploads[id] else { return Self.problem(404, "no such upload") }
            if upload.isComplete, request.body.isEmpty, offset == upload.bytes.count { return nil }
            guard offset == upload.bytes.count, !upload.isComplete else {
                return Self.answer(
                    409, ["expected-offset": .number(JSONNumber(upload.bytes.count))], Self.fields(of: upload))
            }
            upload.bytes += request.body
            upload.isComplete = isLast && request.isWhole
            state.uploads[id] = upload
            return nil
        }
        return problem ?? answer(of: id)
    }

    private func offset(of id: String) -> HTTPExchangeResponse {
        state.withLock { state in
            guard let upload = state.uploads[id] else { return Self.problem(404, "no such upload") }
            return HTTPExchangeResponse(status: 204, headers: Self.fields(of: upload))
        }
    }

    private func answer(of id: String) -> HTTPExchangeResponse {
        guard let upload = state.withLock({ $0.uploads[id] }) else { return Self.problem(404, "no such upload") }
        var fields = Self.fields(of: upload)
        fields[.location] = "/uploads/\(id)"
        let body: JSON = ["id": .string(id), "content": .string(Self.name(of: upload.bytes))]
        return Self.answer(upload.isComplete ? 200 : 201, body, fields)
    }

    /// The bytes of a job's output, from an offset where one is asked for.
    func result(_ id: String, _ request: ArrivedRequest, at time: Timestamp) -> HTTPExchangeResponse {
        guard let job = jobs.first(where: { $0.id == id }), job.ends <= time else {
            return Self.problem(404, "no such result")
        }
        let bytes = Array(Self.output(of: job.input).utf8)
        let tag = "\"\(job.id)-\(bytes.count)\""
        var fields: HTTPFields = [:]
        fields[.eTag] = tag
        fields[.acceptRanges] = "bytes"
        let start = Self.rangeStart(request)
        guard let start, start < bytes.count, Self.field("If-Range", request).map({ $0 == tag }) ?? true else {
            return HTTPExchangeResponse(status: 200, headers: fields, body: bytes)
        }
        fields[.contentRange] = "bytes \(start)-\(bytes.count - 1)/\(bytes.count)"
        return HTTPExchangeResponse(status: 206, headers: fields, body: Array(bytes[start...]))
    }

    /// The first byte of `Range: bytes=N-`; nil for any other range.
    private static func rangeStart(_ request: ArrivedRequest) -> Int? {
        guard let range = request.description.headers[.range], range.hasPrefix("bytes="), range.hasSuffix("-") else {
            return nil
        }
        return Int(range.dropFirst("bytes=".count).dropLast())
    }

    private static func fields(of upload: Upload) -> HTTPFields {
        var fields: HTTPFields = [:]
        set("Upload-Offset", "\(upload.bytes.count)", in: &fields)
        set("Upload-Complete", upload.isComplete ? "?1" : "?0", in: &fields)
        if let length = upload.length { set("Upload-Length", "\(length)", in: &fields) }
        set("Upload-Limit", "max-append-size=1500", in: &fields)
        set("Upload-Draft-Interop-Version", "8", in: &fields)
        return fields
    }

    private static func set(_ name: String, _ value: String, in fields: inout HTTPFields) {
        if let name = HTTPField.Name(name) { fields[name] = value }
    }

    private static func field(_ name: String, _ request: ArrivedRequest) -> String? {
        HTTPField.Name(name).flatMap { request.description.headers[$0] }
    }
}
