import HTTPTypes
import PipelineCore
import PipelineHTTP

/// The client's side of one tus 1.0.0 upload (https://tus.io/protocols/resumable-upload): from each answer to the next
/// request, and nothing else. It uses the extensions creation, expiration and termination.
///
/// Uploads are created empty, so that the URL is known, and can be kept, before the first byte of the file goes out. A
/// try that begins with an upload that exists asks for its offset first: a service may still hold the connection that
/// broke, and answers a PATCH meanwhile with 403, 409 or 423. An upload past its `Upload-Expires` is 404 or 410.
struct TusSession: Sendable, Equatable {
    private enum State: Sendable, Equatable {
        case creating
        case asking
        case appending(from: Int64, count: Int64)
    }

    /// The length of the file.
    let total: Int64
    /// Where the upload is; nil before the service has said so.
    private(set) var url: String?
    /// How many bytes the service is known to have.
    private(set) var confirmed: Int64 = 0
    /// True once a request was begun whose answer may be the one that ends the upload.
    private(set) var mayBeComplete = false
    /// True when the answer that ends the upload is not the one to its last bytes: that was lost.
    private(set) var isReplaying = false
    /// The most bytes of one append; nil for the rest in one.
    private(set) var chunk: UploadChunk
    private var state = State.creating
    private var detours = 0

    private static let maximumDetours = 8

    /// A session for a new upload.
    init(total: Int64, chunk: UploadChunk) {
        self.total = total
        self.chunk = chunk
    }

    /// A session that goes on with an upload.
    init(total: Int64, chunk: UploadChunk, url: String, confirmed: Int64, mayBeComplete: Bool) {
        self.init(total: total, chunk: chunk)
        self.url = url
        self.confirmed = confirmed
        self.mayBeComplete = mayBeComplete
        state = .asking
    }

    /// The first request.
    mutating func begin() -> UploadStep { state == .creating ? create() : ask() }

    /// Takes the answer to the request that was sent last.
    mutating func next(after response: HTTPExchangeResponse) -> UploadStep {
        switch state {
        case .creating: afterCreation(response)
        case .asking: afterOffset(response)
        case .appending(let offset, let count): afterAppend(response, from: offset, count: count)
        }
    }

    /// The request that ends the upload without a result (extension termination); nil when there is none.
    var cancellation: UploadRequest? {
        url.map { UploadRequest(purpose: .cancel, method: .delete, url: $0, headers: fields()) }
    }

    // MARK: Requests

    private func fields(_ more: HTTPField...) -> HTTPFields {
        HTTPFields([HTTPField(name: .tusResumable, value: "1.0.0")] + more)
    }

    private mutating func create() -> UploadStep {
        state = .creating
        // An empty file is complete as soon as it is created.
        if total == 0 { mayBeComplete = true }
        return .send(
            UploadRequest(
                purpose: .create, headers: fields(HTTPField(name: .uploadLength, value: String(total))), body: .empty,
                note: .metadata))
    }

    private mutating func ask() -> UploadStep {
        state = .asking
        return .send(UploadRequest(purpose: .ask, method: .head, url: url, headers: fields()))
    }

    private mutating func append(from offset: Int64) -> UploadStep {
        confirmed = offset
        let count = min(total - offset, chunk.size ?? .max)
        if offset + count == total { mayBeComplete = true }
        state = .appending(from: offset, count: count)
        let headers = fields(
            HTTPField(name: .uploadOffset, value: String(offset)),
            HTTPField(name: .contentType, value: "application/offset+octet-stream"))
        return .send(
            UploadRequest(
                purpose: .append, method: .patch, url: url, headers: headers, body: .file(offset: offset, count: count))
        )
    }

    // MARK: Answers

    private mutating func afterCreation(_ response: HTTPExchangeResponse) -> UploadStep {
        if response.status == 413, let most = response.headers[.tusMaxSize].flatMap({ Int64($0) }), most < total {
            return .fail(.tooLarge(most))
        }
        // 412 is the answer to a version that the service does not speak.
        if response.status == 412, response.headers[.tusVersion] != nil { return .fail(.unsupported) }
        guard response.isSuccess else { return .fail(.refused) }
        guard let location = response.headers[.location],
            let found = URLReference.resolve(location, against: response.url)
        else { return .fail(.unsupported) }
        url = found
        if total == 0 { return .done }
        // A Location alone can be that of something else: a service that knows nothing of this protocol answers so too.
        guard response.headers[.tusResumable] != nil else { return ask() }
        return append(from: offset(in: response.headers) ?? 0)
    }

    private mutating func afterOffset(_ response: HTTPExchangeResponse) -> UploadStep {
        switch response.status {
        case 404, 410, 403: return .fail(.gone)
        // Some services no longer show an upload that is complete.
        case 405 where mayBeComplete: return .fail(.gone)
        case 409, 423: return .fail(.busy)
        case 412 where response.headers[.tusVersion] != nil: return .fail(.unsupported)
        default: break
        }
        guard response.isSuccess else { return .fail(.refused) }
        guard let offset = offset(in: response.headers) else { return .fail(.unsupported) }
        if let length = response.headers[.uploadLength].flatMap({ Int64($0) }), length != total {
            return .fail(.wrong("the upload there is for \(length) bytes, and the file has \(total)"))
        }
        guard offset <= total else {
            return .fail(.wrong("the service says it has \(offset) bytes of a file that has \(total)"))
        }
        chunk.noteKept(offset > confirmed)
        guard offset < total else {
            confirmed = total
            isReplaying = true
            return .done
        }
        return append(from: offset)
    }

    private mutating func afterAppend(_ response: HTTPExchangeResponse, from start: Int64, count: Int64) -> UploadStep {
        if response.isSuccess {
            let offset = offset(in: response.headers) ?? start + count
            guard offset <= total else {
                return .fail(.wrong("the service says it has \(offset) bytes of a file that has \(total)"))
            }
            if offset > start {
                detours = 0
                confirmed = offset
                return offset == total ? .done : append(from: offset)
            }
            return askAgain("the service answers \(response.status) to bytes that it does not keep")
        }
        switch response.status {
        case 404, 410: return .fail(.gone)
        case 423: return .fail(.busy)
        // 403 and 409 also while the request before this one is still open; 460 is a wrong checksum.
        case 403, 409, 460: return askAgain("the service keeps refusing bytes with \(response.status)")
        case 413: return chunk.shrink(below: count) ? ask() : .fail(.refused)
        default: return .fail(.refused)
        }
    }

    private func offset(in headers: HTTPFields) -> Int64? {
        headers[.uploadOffset].flatMap { Int64($0) }.flatMap { $0 >= 0 ? $0 : nil }
    }

    /// Asks for the offset after an answer that leads back to where it was; a failure once there were too many.
    private mutating func askAgain(_ complaint: String) -> UploadStep {
        detours += 1
        return detours > Self.maximumDetours ? .fail(.wrong(complaint)) : ask()
    }
}

extension HTTPField.Name {
    static let tusResumable = HTTPField.Name("Tus-Resumable")!
    static let tusVersion = HTTPField.Name("Tus-Version")!
    static let tusMaxSize = HTTPField.Name("Tus-Max-Size")!
    static let uploadMetadata = HTTPField.Name("Upload-Metadata")!
}
