import Foundation
import HTTPTypes
import PipelineKit

/// Sends a file by partial updates of WebDAV (https://sabre.io/dav/http-patch/): a transfer protocol that the built-in
/// `upload` does not have.
///
/// The server's size of the resource is the checkpoint: after a crash it is asked, and what is missing is appended.
struct AppendFile: Stage {
    /// Nothing is kept but that the resource was made: the server knows the rest.
    struct Checkpoint: Codable, Sendable {
        var sent: Int64
    }

    let network: Network
    let file: Template
    let url: Template
    let part: Int64

    static func kind(network: Network) -> StageKind {
        let file = Field("file", FieldType<Template>.template(), required: true, "The file to send.")
        let url = Field("to", FieldType<Template>.template(), required: true, "The whole URL of the resource.")
        let part = Field("part", FieldType<Int>.integer(1...(1 << 30)), default: 8_388_608, "Bytes of a request.")
        return StageKind(
            name: "append", summary: "Sends a file by WebDAV partial updates.", fields: [file, url, part]
        ) { reading in
            reading.declare([CaptureDeclaration(name: "size")])
            let part = reading.reader.value(part, default: 8 << 20)
            guard let file = reading.reader.required(file), let url = reading.reader.required(url) else { return nil }
            return AnyStage(AppendFile(network: network, file: file, url: url, part: Int64(part)), coding: .json)
        }
    }

    func resume(
        from checkpoint: Checkpoint?, in context: StageContext<Checkpoint>
    ) async throws(StageFailure) -> StageOutcome<Checkpoint> {
        let url = try await context.resolve(url).string ?? ""
        let name = try await context.resolve(file).string ?? ""
        let path = name.hasPrefix("/") ? name : "\(context.facts.folders.document)/\(name)"
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        guard let size = (attributes?[.size] as? NSNumber)?.int64Value else {
            throw .definite(StepFailure("can't read \(path)", place: context.facts.place))
        }
        var offset: Int64 = 0
        if checkpoint == nil {
            try await send(CreateResource(url: url), in: context)
        } else {
            offset = try await send(FindSize(url: url), in: context)
        }
        guard offset <= size else {
            throw .definite(
                StepFailure("the server has \(offset) bytes of a file of \(size)", place: context.facts.place))
        }
        try await context.commit(Checkpoint(sent: offset))
        while offset < size {
            let length = min(part, size - offset)
            try await send(AppendPart(url: url, path: path, offset: offset, length: length), in: context)
            offset += length
            context.report(.transfer(sent: offset, received: 0, total: size))
            context.count(BytesMoved(sent: length))
            try await context.commit(Checkpoint(sent: offset), progressed: true)
        }
        return .finished(["size": .number(JSONNumber(Int(size)))])
    }

    /// One exchange; what it throws says whether the engine may try again.
    @discardableResult private func send<Request: RequestTemplate>(
        _ request: Request, in context: StageContext<Checkpoint>
    ) async throws(StageFailure) -> Request.Output {
        do {
            return try await network.send(request)
        } catch let error as ExchangeFailure {
            if error.reason == .cancelled { throw .stopped }
            let failure = StepFailure(context.redact(error.message), place: context.facts.place)
            throw .failed(AttemptFailure(failure, kind: error.isRetryable ? .silent : .definite))
        } catch let error as StatusCodeError {
            var failure = StepFailure("the server answered with status \(error.status)", place: context.facts.place)
            failure.status = error.status
            throw .failed(AttemptFailure(failure, kind: error.status >= 500 ? .answered : .definite))
        } catch {
            throw .definite(StepFailure(context.redact("\(error)"), place: context.facts.place))
        }
    }
}

/// Makes the resource, empty.
private struct CreateResource: RequestTemplate {
    let url: String
    var method: HTTPRequest.Method { .put }
    var path: String { url }
    var body: RequestBody { .bytes([]) }
    typealias Output = Empty
}

/// A request for the number of bytes that the server has of the resource.
private struct FindSize: RequestTemplate {
    let url: String
    var method: HTTPRequest.Method { .head }
    var path: String { url }
    func convert(_ response: HTTPExchangeResponse) throws -> Int64 {
        response.headers[.contentLength].flatMap { Int64($0) } ?? 0
    }
}

/// Writes a part of the file. The range says where: the same part sent twice changes nothing.
private struct AppendPart: RequestTemplate {
    let url: String
    let file: String
    let offset: Int64
    let length: Int64

    init(url: String, path: String, offset: Int64, length: Int64) {
        self.url = url
        file = path
        self.offset = offset
        self.length = length
    }

    var method: HTTPRequest.Method { .patch }
    var path: String { url }
    var headers: HTTPFields {
        [
            .contentType: "application/x-sabredav-partialupdate",
            HTTPField.Name("X-Update-Range")!: "bytes=\(offset)-\(offset + length - 1)",
        ]
    }
    var body: RequestBody { .file(path: file, offset: offset, length: length) }
    /// On a reused connection libcurl would repeat it by itself, unseen by the engine (curl/curl#18417).
    func adjust(_ options: inout ExchangeOptions) { options.freshConnection = true }
    typealias Output = Empty
}
