import HTTPTypes
import PipelineCore
import PipelineHTTP

/// The client's side of one tus 1.0.0 upload (https://tus.io/protocols/resumable-upload): from each answer to the next
/// request, and nothing else. It uses the extensions creation, expiration and termination, and where the
/// service offers them creation-with-upload and checksum.
///
/// Uploads are created empty, or with their first part, so that the URL is known, and can be kept, before more goes out. A
/// try that begins with an upload that exists asks for its offset first: a service may still hold the connection that
/// broke, and answers a PATCH meanwhile with 403, 409 or 423. An upload past its `Upload-Expires` is 404 or 410.
struct TusSession: UploadSession, Equatable {
    private enum State: Sendable, Equatable {
        case discovering
        case creating(count: Int64)
        case asking
        case appending(from: Int64, count: Int64)
    }

    /// True when the author's request names an upload that exists: then no other can be made.
    let isGiven: Bool
    var position: UploadPosition
    /// True when the response that ends the upload is not the one to its last bytes: that was lost.
    private(set) var isReplaying = false
    /// The offer of the service beyond the core; nil before it was asked.
    private(set) var offer: TusOffer?
    private var state: State

    /// A session for a new upload, or for one that goes on.
    init(
        total: Int64, chunk: UploadChunk, isGiven: Bool = false, url: String? = nil, confirmed: Int64 = 0,
        mayBeComplete: Bool = false, offer: TusOffer? = nil
    ) {
        self.isGiven = isGiven
        self.offer = offer
        position = UploadPosition(
            total: total, chunk: chunk, url: url, confirmed: confirmed, mayBeComplete: mayBeComplete)
        state = isGiven || url != nil ? .asking : .discovering
    }

    var language: String { "tus 1.0.0" }

    var canBeMadeAnew: Bool { !isGiven }

    private var total: Int64 { position.total }

    /// The first request.
    mutating func begin() -> UploadStep {
        if state == .asking { return ask() }
        return total == 0 || offer != nil ? create() : discover()
    }

    /// Takes the answer to the request that was sent last.
    mutating func next(after response: HTTPExchangeResponse) -> UploadStep {
        if let target = UploadRedirect.target(of: response), let step = follow(target) { return step }
        if response.headers[.tusResumable] != nil { position.believeRedirect() }
        return position.redirect.step(after(response), after: response)
    }

    private mutating func after(_ response: HTTPExchangeResponse) -> UploadStep {
        switch state {
        case .discovering: afterDiscovery(response)
        case .creating(let count): afterCreation(response, count: count)
        case .asking: afterOffset(response)
        case .appending(let offset, let count): afterAppend(response, from: offset, count: count)
        }
    }

    /// The request that ends the upload without a result (extension termination); nil when there is none.
    var cancellation: UploadRequest? {
        guard position.url != nil || isGiven else { return nil }
        return UploadRequest(purpose: .cancel, method: .delete, url: position.url, headers: fields())
    }

    func record(in checkpoint: inout UploadCheckpoint) {
        recordPosition(in: &checkpoint)
        checkpoint.terms.offer = offer
    }

    // MARK: Requests

    private func fields(_ more: HTTPField...) -> HTTPFields {
        HTTPFields([HTTPField(name: .tusResumable, value: "1.0.0")] + more)
    }

    /// What else the service offers is asked once for each upload; a service that says nothing offers nothing.
    private mutating func discover() -> UploadStep {
        state = .discovering
        return .send(UploadRequest(purpose: .ask, method: .options, headers: fields()))
    }

    /// With the extension creation-with-upload the first part goes along. Never the last byte: an upload that is whole
    /// before its URL is known could not be found again when that answer is lost. Nor after a creation that broke off: what
    /// went along with it is lost with its URL.
    private mutating func create() -> UploadStep {
        let chunk = position.chunk
        let bringsPart = offer?.createsWithUpload == true && total > chunk.part && !chunk.mayHaveLost
        let first = bringsPart ? chunk.part : 0
        state = .creating(count: first)
        // An empty file is complete as soon as it is created.
        position.begin(bringsEnd: total == 0)
        return .send(
            UploadRequest(
                purpose: .create, headers: fields(HTTPField(name: .uploadLength, value: String(total))),
                body: first > 0 ? .file(offset: 0, count: first) : .empty, note: .metadata))
    }

    private mutating func ask() -> UploadStep {
        state = .asking
        return .send(UploadRequest(purpose: .ask, method: .head, url: position.target, headers: fields()))
    }

    private mutating func append(from offset: Int64) -> UploadStep {
        position.confirmed = offset
        // What a service checks as a whole it drops as a whole: a part at a time.
        let chunk = position.chunk
        let most = offer?.checksum == nil ? chunk.size ?? .max : min(chunk.size ?? .max, chunk.part)
        let count = min(total - offset, most)
        position.begin(bringsEnd: offset + count == total)
        state = .appending(from: offset, count: count)
        let headers = fields(
            HTTPField(name: .uploadOffset, value: String(offset)),
            HTTPField(name: .contentType, value: "application/offset+octet-stream"))
        return .send(
            UploadRequest(
                purpose: .append, method: .patch, url: position.target, headers: headers,
                body: .file(offset: offset, count: count), checksum: offer?.checksum))
    }

    // MARK: Answers

    private mutating func afterDiscovery(_ response: HTTPExchangeResponse) -> UploadStep {
        let offer = response.isSuccess ? TusOffer(response.headers) : TusOffer()
        self.offer = offer
        if let most = offer.maximumSize, most < total { return .fail(.tooLarge(most)) }
        return create()
    }

    private mutating func afterCreation(_ response: HTTPExchangeResponse, count: Int64) -> UploadStep {
        noteExpiry(response)
        if response.status == 413, let most = response.headers[.tusMaxSize].flatMap({ Int64($0) }), most < total {
            return .fail(.tooLarge(most))
        }
        // 412 is the answer to a version that the service does not speak.
        if response.status == 412, response.headers[.tusVersion] != nil { return .fail(.unsupported) }
        guard response.isSuccess else {
            if response.status < 500 || response.status == 503 { position.noteRefusal() }
            return .fail(.refused)
        }
        guard let location = response.headers[.location],
            let found = URLReference.resolve(location, against: response.url)
        else { return .fail(.unsupported) }
        position.url = found
        if total == 0 { return .done }
        // A Location alone can be that of something else: a service that knows nothing of this protocol answers so too.
        guard response.headers[.tusResumable] != nil else { return ask() }
        if count > 0 {
            // Without an offset it is not known whether the bytes that went along were kept.
            guard let kept = offset(in: response.headers), kept <= count else { return ask() }
            return append(from: kept)
        }
        let kept = offset(in: response.headers) ?? 0
        guard kept <= total else { return beyondEnd(kept) }
        // Of nothing that was sent nothing can be there: what it has is asked for before that is believed.
        return kept == 0 ? append(from: 0) : ask()
    }

    private func beyondEnd(_ offset: Int64) -> UploadStep {
        .fail(.wrong("the service says it has \(offset) bytes of a file that has \(total)"))
    }

    /// Records when the service drops the upload if nothing more comes (extension expiration).
    private mutating func noteExpiry(_ response: HTTPExchangeResponse) {
        if let end = UploadLifetime(date: response.headers[.uploadExpires], in: response.headers) {
            position.lifetime = end
        }
    }

    private mutating func afterOffset(_ response: HTTPExchangeResponse) -> UploadStep {
        noteExpiry(response)
        switch response.status {
        case 404, 410, 403: return .fail(.gone)
        // Some services no longer show an upload that is complete.
        case 405 where position.mayBeComplete: return .fail(.gone)
        case 409, 423: return .fail(.busy)
        case 412 where response.headers[.tusVersion] != nil: return .fail(.unsupported)
        default: break
        }
        guard response.isSuccess else { return .fail(.refused) }
        guard let offset = offset(in: response.headers) else {
            return .fail(position.confirmed > 0 || position.mayBeComplete ? .unclear : .unsupported)
        }
        position.believeRedirect()
        if let length = response.headers[.uploadLength].flatMap({ Int64($0) }), length != total {
            return .fail(.wrong("the upload there is for \(length) bytes, and the file has \(total)"))
        }
        guard offset <= total else { return beyondEnd(offset) }
        position.detours.advance(to: offset)
        position.chunk.noteKept(offset > position.confirmed)
        guard offset < total else {
            position.confirmed = total
            isReplaying = true
            return .done
        }
        return append(from: offset)
    }

    private mutating func afterAppend(_ response: HTTPExchangeResponse, from start: Int64, count: Int64) -> UploadStep {
        noteExpiry(response)
        if response.isSuccess {
            guard let offset = kept(response, start + count) else {
                return askAgain("the service does not say how much it has")
            }
            position.believeRedirect()
            guard offset <= total else { return beyondEnd(offset) }
            // More than it was sent: what it has is asked for before that is believed.
            guard offset <= start + count else { return askAgain("the service says it has more than it was sent") }
            if offset > start {
                position.detours.advance(to: offset)
                position.confirmed = offset
                position.chunk.noteSent(offset - start, in: response.timings)
                return offset == total ? .done : append(from: offset)
            }
            return position.detours.add(
                "the service answers \(response.status) to bytes that it does not keep", isResent: true)
                ?? ask()
        }
        switch response.status {
        case 404, 410: return .fail(.gone)
        case 423: return .fail(.busy)
        // Also while the request before this one is still open, and that may be so for a minute.
        case 403, 409:
            return position.detours.areFew ? askAgain("") : .fail(.refusing(response.status))
        // Credentials that ended in the midst of it may be others by now.
        case 401 where position.detours.areFew: return askAgain("")
        // A wrong checksum.
        case 460:
            return position.detours.areFew
                ? askAgain("") : .fail(.wrong("the service keeps refusing bytes with \(response.status)"))
        case 413: return position.chunk.shrink(below: count) ? ask() : .fail(.refused)
        default: return .fail(.refused)
        }
    }

    /// Returns how much a service has after an append that it took. One that forgets to say so has what was sent; an
    /// answer that is none of this protocol came from somebody else on the way, and says nothing: nil.
    private func kept(_ response: HTTPExchangeResponse, _ sent: Int64) -> Int64? {
        if response.headers[.uploadOffset] != nil { return offset(in: response.headers) }
        return response.headers[.tusResumable] == nil ? nil : sent
    }

    private func offset(in headers: HTTPFields) -> Int64? {
        headers[.uploadOffset].flatMap { Int64($0) }.flatMap { $0 >= 0 ? $0 : nil }
    }

    /// Goes to where the upload is by now; nil for requests that are not about one.
    private mutating func follow(_ target: String) -> UploadStep? {
        switch state {
        case .discovering, .creating: return nil
        case .asking:
            position.redirect.target = target
            return askAgain("the service redirects again and again")
        case .appending(let offset, _):
            position.redirect.target = target
            return position.detours.add("the service redirects again and again") ?? append(from: offset)
        }
    }

    /// Asks for the offset after an answer that leads back to where it was; a failure once there were too many.
    private mutating func askAgain(_ complaint: String) -> UploadStep {
        position.detours.add(complaint) ?? ask()
    }
}

extension HTTPField.Name {
    static let tusResumable = HTTPField.Name("Tus-Resumable")!
    static let tusVersion = HTTPField.Name("Tus-Version")!
    static let uploadExpires = HTTPField.Name("Upload-Expires")!
    static let tusMaxSize = HTTPField.Name("Tus-Max-Size")!
    static let uploadMetadata = HTTPField.Name("Upload-Metadata")!
}
