import HTTPTypes
import PipelineCore
import PipelineHTTP

/// The client's side of one resumable upload of Google Cloud Storage, and of services that speak as it does
/// (https://cloud.google.com/storage/docs/performing-resumable-uploads): from each answer to the next request.
///
/// A session is made by a POST, or is there already. Bytes go out as `PUT` with `Content-Range: bytes A-B/TOTAL`; 308
/// says with `Range: bytes=0-N` what is kept, without it that nothing is. An empty PUT with `bytes */TOTAL` asks for
/// that, and gives the last answer again when the upload is complete. 404 and 410 mean that the session is over, DELETE
/// ends it (the answer is 499). Whoever knows a session's URL can write to it: it is never shown.
struct GoogleSession: UploadSession, Equatable {
    private enum State: Sendable, Equatable {
        case creating
        case asking
        case sending(from: Int64, count: Int64)
    }

    /// All stretches but the last are multiples of this.
    static let granularity: Int64 = 256 << 10
    /// "A resumable upload session URI expires after one week" (performing-resumable-uploads).
    private static let life = Duration.seconds(7 * 86_400)

    /// True when the author's request names a session that exists: then no other can be made.
    let isGiven: Bool
    var position: UploadPosition
    /// True when the response that ends the upload was asked for again.
    private(set) var isReplaying = false
    private var state: State

    init(
        total: Int64, chunk: UploadChunk, isGiven: Bool, url: String? = nil, confirmed: Int64 = 0,
        mayBeComplete: Bool = false
    ) {
        self.isGiven = isGiven
        position = UploadPosition(
            total: total, chunk: chunk, url: url, confirmed: confirmed, mayBeComplete: mayBeComplete)
        state = isGiven || url != nil ? .asking : .creating
    }

    var language: String { "resumable uploads as Google Cloud Storage has them" }

    var canBeMadeAnew: Bool { !isGiven }

    /// The first request.
    mutating func begin() -> UploadStep { state == .creating ? create() : ask() }

    /// Takes the answer to the request that was sent last. After a creation its `Location` is the session's URL, put
    /// there by whatever the author's selector found.
    mutating func next(after response: HTTPExchangeResponse) -> UploadStep {
        switch state {
        case .creating: afterCreation(response)
        case .asking: afterQuery(response)
        case .sending(let offset, let count): afterBytes(response, from: offset, count: count)
        }
    }

    /// The request that ends the session without a result; nil when there is none.
    var cancellation: UploadRequest? {
        guard position.url != nil || isGiven else { return nil }
        return UploadRequest(purpose: .cancel, method: .delete, url: position.url, body: .empty)
    }

    // MARK: Requests

    private mutating func create() -> UploadStep {
        state = .creating
        let length = HTTPField(name: .uploadContentLength, value: String(position.total))
        return .send(UploadRequest(purpose: .create, headers: [length.name: length.value], note: .contentFields))
    }

    private mutating func ask() -> UploadStep {
        state = .asking
        return .send(
            UploadRequest(
                purpose: .ask, method: .put, url: position.url, headers: [.contentRange: "bytes */\(position.total)"],
                body: .empty))
    }

    private mutating func send(from offset: Int64) -> UploadStep {
        let total = position.total
        position.confirmed = offset
        let count = min(total - offset, position.chunk.size ?? .max)
        position.begin(bringsEnd: offset + count == total)
        state = .sending(from: offset, count: count)
        guard count > 0 else {
            return .send(
                UploadRequest(
                    purpose: .append, method: .put, url: position.url,
                    headers: [.contentRange: "bytes */\(position.total)"], body: .empty
                ))
        }
        let range = "bytes \(offset)-\(offset + count - 1)/\(total)"
        return .send(
            UploadRequest(
                purpose: .append, method: .put, url: position.url, headers: [.contentRange: range],
                body: .file(offset: offset, count: count)))
    }

    // MARK: Answers

    private mutating func afterCreation(_ response: HTTPExchangeResponse) -> UploadStep {
        guard response.isSuccess else { return .fail(.refused) }
        guard let location = response.headers[.location],
            let found = URLReference.resolve(location, against: response.url)
        else { return .fail(.unsupported) }
        position.url = found
        position.lifetime = .lasting(Self.life)
        return send(from: 0)
    }

    private mutating func afterQuery(_ response: HTTPExchangeResponse) -> UploadStep {
        switch response.status {
        case 200, 201:
            guard !response.isPage else { return .fail(.unclear) }
            isReplaying = true
            position.confirmed = position.total
            return .done
        case 308:
            guard let kept = kept(response) else { return .fail(.wrong(Self.unreadable(response))) }
            position.chunk.noteKept(kept > position.confirmed)
            return send(from: kept)
        case 404, 410, 499: return .fail(.gone)
        default: return .fail(response.isSuccess ? .unsupported : .refused)
        }
    }

    private mutating func afterBytes(_ response: HTTPExchangeResponse, from start: Int64, count: Int64) -> UploadStep {
        switch response.status {
        case 308:
            guard let kept = kept(response) else { return .fail(.wrong(Self.unreadable(response))) }
            if kept > start {
                position.detours.advance(to: kept)
                position.chunk.noteSent(kept - start, in: response.timings)
                return send(from: kept)
            }
            if count == 0, kept == position.total {
                // It has all, and has not finished with them.
                return position.detours.areFew ? askAgain("") : .fail(.busy)
            }
            return position.detours.add("the service keeps none of the bytes that it takes", isResent: true) ?? ask()
        case 404, 410, 499: return .fail(.gone)
        case 413: return position.chunk.shrink(below: count) ? ask() : .fail(.refused)
        // It disagrees about what it has.
        case 416: return askAgain("the service keeps refusing bytes with 416")
        case 200..<300 where response.isPage: return .fail(.unclear)
        case 200..<300 where start + count < position.total:
            return .fail(.wrong("the service calls an upload complete of which bytes are missing"))
        case 200..<300: return .done
        default: return .fail(.refused)
        }
    }

    /// Returns how many bytes a 308 says are kept; nil for a `Range` that means nothing here.
    private func kept(_ response: HTTPExchangeResponse) -> Int64? {
        guard let range = response.headers[.range] else { return 0 }
        guard range.hasPrefix("bytes=0-"), let last = Int64(range.dropFirst(8)),
            range.utf8.dropFirst(8).allSatisfy({ (48...57).contains($0) }), last < position.total
        else { return nil }
        return last + 1
    }

    private static func unreadable(_ response: HTTPExchangeResponse) -> String {
        "it says of a part of the file that it has \(response.headers[.range] ?? "")"
    }

    private mutating func askAgain(_ complaint: String) -> UploadStep {
        position.detours.add(complaint) ?? ask()
    }
}

extension HTTPField.Name {
    static let uploadContentLength = HTTPField.Name("X-Upload-Content-Length")!
    static let uploadContentType = HTTPField.Name("X-Upload-Content-Type")!
}
