import HTTPTypes
import PipelineCore
import PipelineHTTP

/// The client's side of one resumable upload (draft-ietf-httpbis-resumable-upload-12 and older interop versions): from
/// each answer to the next request, and nothing else.
///
/// Uploads are created empty and filled by appends, so that the URL is known, and can be kept, before the first byte of
/// the file goes out. Only where it does no harm to send all of it again, all goes along with the creation: one request,
/// whose answer is that of its target (draft, section 4.2.2); a 104 on the way tells the URL. Where a try begins with an
/// upload that exists, the service is asked for its offset first: there are services that destroy an upload for an append
/// at a wrong one.
struct ResumableSession: Sendable, Equatable {
    private enum State: Sendable, Equatable {
        case creating
        case asking
        case appending(from: Int64, count: Int64)
        case replaying
    }

    /// The length of the file.
    let total: Int64
    private(set) var version: InteropVersion
    /// True when the service has answered in this version; it never changes after that.
    private(set) var isVersionSettled: Bool
    /// Where the upload is; nil before the service has said so.
    private(set) var url: String?
    /// How many bytes the service is known to have: they need not be sent again.
    private(set) var confirmed: Int64 = 0
    /// True once a request was begun whose answer may be the one that ends the upload.
    private(set) var mayBeComplete: Bool
    /// The same before the request that was made last.
    private var couldBeComplete = false
    /// Whether the creation brings all bytes along.
    private(set) var isOptimistic: Bool
    /// Until when the service keeps the upload, as the last answer said it; nil when it did not.
    var lifetime: UploadLifetime?
    /// How much goes into one append, as answers of earlier tries taught it too.
    private(set) var chunk: UploadChunk
    private var limit: UploadLimit?
    private var state: State
    private var creationURL: String?
    private var redirect = UploadRedirect()
    private var hasEvidence = false
    private var contradiction: String?
    private var detours = UploadDetours()

    /// A session for a new upload.
    init(
        total: Int64, version: InteropVersion = .newest, isVersionSettled: Bool = false, isOptimistic: Bool = false,
        chunk: UploadChunk = UploadChunk(part: .max)
    ) {
        self.total = total
        self.chunk = chunk
        self.isOptimistic = isOptimistic
        self.version = version
        self.isVersionSettled = isVersionSettled
        state = .creating
        mayBeComplete = false
    }

    /// A session that goes on with an upload.
    init(
        total: Int64, version: InteropVersion, url: String, confirmed: Int64, mayBeComplete: Bool,
        chunk: UploadChunk = UploadChunk(part: .max)
    ) {
        self.init(total: total, version: version, isVersionSettled: true, chunk: chunk)
        self.url = url
        self.confirmed = confirmed
        detours = UploadDetours(from: confirmed)
        self.mayBeComplete = mayBeComplete
        state = .asking
    }

    /// True while the answer that is waited for is one that was asked for again.
    var isReplaying: Bool { state == .replaying }

    /// The first request.
    mutating func begin() -> UploadStep { state == .creating ? create() : ask() }

    /// Takes a 1xx answer: the URL of the upload, its limits, and an offset that the service vouches for. What does not
    /// carry the same version is ignored, as the draft says (section 4.4.1).
    mutating func take(informational status: Int, _ headers: HTTPFields, from requestURL: String) {
        guard status == 104, headers[.uploadDraftInteropVersion] == String(version.rawValue) else { return }
        hasEvidence = true
        readLimit(headers)
        if let location = headers[.location] { take(location, from: requestURL) }
        if let offset = offset(in: headers), offset <= total { confirmed = max(confirmed, offset) }
    }

    /// Takes the answer to the request that was sent last.
    mutating func next(after response: HTTPExchangeResponse) -> UploadStep {
        if let contradiction { return .fail(.contradiction(contradiction)) }
        readLimit(response.headers)
        let isCreation = state == .creating
        if let target = UploadRedirect.target(of: response), !isCreation || response.status > 303 {
            return follow(target)
        }
        if response.headers.contains(where: { $0.name.canonicalName.hasPrefix("upload-") }) {
            url = redirect.take() ?? url
        }
        return redirect.step(after(response), after: response)
    }

    private mutating func after(_ response: HTTPExchangeResponse) -> UploadStep {
        switch state {
        case .creating: afterCreation(response)
        case .asking: afterOffset(response)
        case .appending(let offset, let count): afterAppend(response, from: offset, count: count)
        case .replaying: afterReplay(response)
        }
    }

    /// The request that ends the upload without a result; nil when there is none.
    var cancellation: UploadRequest? {
        url.map { version.request(.cancel, .delete, $0) }
    }

    /// Takes back that the request sent last may have ended the upload: its last byte did not go out.
    mutating func takeBack() { mayBeComplete = couldBeComplete }

    // MARK: Requests

    private mutating func create() -> UploadStep {
        state = .creating
        couldBeComplete = mayBeComplete
        // Its answer may be the one that ends the upload.
        mayBeComplete = isOptimistic
        return .send(version.creation(at: creationURL, of: total, bringsAll: isOptimistic))
    }

    private mutating func ask() -> UploadStep {
        state = .asking
        return .send(version.request(.ask, .head, redirect.target ?? url))
    }

    /// The rest in one request, or as much of it as the service takes at a time.
    private mutating func append(from offset: Int64) -> UploadStep {
        guard offset <= total else { return beyondEnd(offset) }
        if let maximum = limit?.maximumSize, total > maximum { return .fail(.tooLarge(maximum)) }
        if let minimum = limit?.minimumSize, total < minimum { return .fail(.tooSmall(minimum)) }
        confirmed = offset
        couldBeComplete = mayBeComplete
        let most = max(chunk.size ?? .max, limit?.minimumAppend ?? 0)
        let count = min(total - offset, most, limit?.maximumAppend ?? .max)
        let isLast = offset + count == total
        if isLast { mayBeComplete = true }
        state = .appending(from: offset, count: count)
        return .send(version.append(offset..<offset + count, to: redirect.target ?? url, isLast: isLast))
    }

    /// An empty append to a complete upload: a service can give its last answer again (section 4.4.2).
    private mutating func replay() -> UploadStep {
        state = .replaying
        mayBeComplete = true
        confirmed = total
        return .send(version.append(total..<total, to: redirect.target ?? url, isLast: true, .replay))
    }

    // MARK: Answers

    private mutating func afterCreation(_ response: HTTPExchangeResponse) -> UploadStep {
        if isOptimistic { return afterWhole(response) }
        if !isVersionSettled, Self.refusesVersion(response.status) { return tryOlderVersion(response) }
        guard response.isSuccess else { return .fail(.refused) }
        if let location = response.headers[.location] { take(location, from: response.url) }
        if let contradiction { return .fail(.contradiction(contradiction)) }
        guard url != nil else { return .fail(.unsupported) }
        isVersionSettled = true
        if response.headers.contains(where: { $0.name.canonicalName.hasPrefix("upload-") }) { hasEvidence = true }
        let kept = offset(in: response.headers) ?? 0
        guard kept <= total else { return beyondEnd(kept) }
        // A Location alone can be that of something else: a service that knows nothing of this protocol answers so too.
        // And of nothing that was sent nothing can be there.
        return hasEvidence && kept == 0 ? append(from: 0) : ask()
    }

    private func beyondEnd(_ offset: Int64) -> UploadStep {
        .fail(.wrong("the service says it has \(offset) bytes of a file that has \(total)"))
    }

    /// The answer to all bytes at once: that of the upload's target, unless it says that something is missing.
    private mutating func afterWhole(_ response: HTTPExchangeResponse) -> UploadStep {
        let isComplete = version.isComplete(in: response.headers)
        if isComplete == true || (response.isSuccess && isComplete == nil) { return .done }
        if response.isSuccess {
            if let location = response.headers[.location] { take(location, from: response.url) }
            if let contradiction { return .fail(.contradiction(contradiction)) }
            guard url != nil else { return .fail(.unsupported) }
            isVersionSettled = true
            return ask()
        }
        // What was refused is not there.
        if response.status < 500 || response.status == 503 { mayBeComplete = false }
        if !isVersionSettled, Self.refusesVersion(response.status) {
            // A version that the service names is worth the bytes; others are tried without.
            isOptimistic = response.headers[.uploadDraftInteropVersion] != nil
            return tryOlderVersion(response)
        }
        guard response.status == 413 else { return .fail(.refused) }
        isOptimistic = false
        return create()
    }

    /// 400 is what most say to a version they don't speak; tusd says 412 and gateways 501 or 505.
    private static func refusesVersion(_ status: Int) -> Bool { [400, 412, 422, 426, 501, 505].contains(status) }

    private mutating func tryOlderVersion(_ response: HTTPExchangeResponse) -> UploadStep {
        let named = response.headers[.uploadDraftInteropVersion].flatMap { Int($0) }
        // It speaks this version and refuses all the same: that is about the request.
        if named == version.rawValue { return .fail(.refused) }
        let proposed = named.flatMap(InteropVersion.init).flatMap { $0 < version ? $0 : nil }
        guard let older = proposed ?? version.older else { return .fail(.refused) }
        version = older
        return create()
    }

    private mutating func afterOffset(_ response: HTTPExchangeResponse) -> UploadStep {
        if response.status == 404 || response.status == 410 { return .fail(.gone) }
        if response.status == 409 || response.status == 423 { return .fail(.busy) }
        guard response.isSuccess else { return .fail(.refused) }
        guard let offset = offset(in: response.headers) else {
            return .fail(confirmed > 0 || mayBeComplete ? .unclear : .unsupported)
        }
        if let length = response.headers[.uploadLength].flatMap(StructuredField.integer), length != total {
            return .fail(.wrong("the upload there is for \(length) bytes, and the file has \(total)"))
        }
        guard offset <= total else { return beyondEnd(offset) }
        chunk.noteKept(offset > confirmed)
        if version.isComplete(in: response.headers) == true { return offset < total ? cutShort(offset) : replay() }
        return append(from: offset)
    }

    private mutating func afterAppend(_ response: HTTPExchangeResponse, from start: Int64, count: Int64) -> UploadStep {
        let isLast = start + count == total
        let isComplete = version.isComplete(in: response.headers)
        // Whatever its status: the upload is over, and this is what its target says to it. A conflict is no answer of the
        // target: an append of an earlier owner has ended the upload meanwhile.
        if isLast, isComplete == true, response.status != 409 {
            guard response.isSuccess, let offset = offset(in: response.headers), offset < total else { return .done }
            return cutShort(offset)
        }
        if response.isSuccess { return isLast ? afterLast(response, isComplete) : afterPart(response, start, count) }
        switch response.status {
        case 404, 410: return .fail(.gone)
        case 409: return afterConflict(response)
        case 413: return afterTooMuch(response, count)
        case 423: return .fail(.busy)
        default: return .fail(.refused)
        }
    }

    /// There are services (tusd) that say only by the offset that an upload is complete, and others that say nothing.
    private mutating func afterLast(_ response: HTTPExchangeResponse, _ isComplete: Bool?) -> UploadStep {
        let offset = offset(in: response.headers)
        if isComplete == nil, offset == nil, response.isPage { return .fail(.unclear) }
        guard isComplete ?? ((offset ?? total) >= total) == false else { return .done }
        return detours.add("the service takes all bytes and says that the upload is not complete") ?? ask()
    }

    private mutating func afterPart(_ response: HTTPExchangeResponse, _ start: Int64, _ count: Int64) -> UploadStep {
        let offset = offset(in: response.headers) ?? start + count
        // More than it was sent: what it has is asked for before that is believed.
        if offset > start + count {
            return detours.add("the service says it has more than it was sent") ?? ask()
        }
        if offset > start {
            detours.advance(to: offset)
            return append(from: offset)
        }
        return detours.add("the service answers \(response.status) to bytes that it does not keep") ?? ask()
    }

    private mutating func afterConflict(_ response: HTTPExchangeResponse) -> UploadStep {
        if let end = detours.add("the service keeps changing its mind about the offset") { return end }
        guard let offset = offset(in: response.headers), offset <= total else { return ask() }
        guard version.isComplete(in: response.headers) == true else { return append(from: offset) }
        return offset < total ? cutShort(offset) : replay()
    }

    private func cutShort(_ offset: Int64) -> UploadStep {
        .fail(.wrong("the service calls an upload complete of which it has \(offset) of \(total) bytes"))
    }

    private mutating func afterTooMuch(_ response: HTTPExchangeResponse, _ count: Int64) -> UploadStep {
        let named = response.headers[.uploadLimit].flatMap(UploadLimit.init)?.maximumAppend
        let least = max(1 << 10, limit?.minimumAppend ?? 0)
        let smaller = named.flatMap { $0 < count ? $0 : nil } ?? max(count / 2, least)
        // Below that it is not the part that is too large.
        guard smaller > 0, smaller < count else { return .fail(.refused) }
        chunk.shrink(to: smaller)
        return ask()
    }

    private mutating func afterReplay(_ response: HTTPExchangeResponse) -> UploadStep {
        if response.isSuccess || version.isComplete(in: response.headers) == true { return .done }
        switch response.status {
        case 400, 404, 405, 409, 410, 422: return .fail(.gone)
        case 423: return .fail(.busy)
        default: return .fail(.refused)
        }
    }

    private mutating func follow(_ target: String) -> UploadStep {
        if let end = detours.add("the service redirects again and again") { return end }
        switch state {
        case .creating:
            creationURL = target
            return create()
        case .asking:
            redirect.target = target
            return ask()
        case .appending(let offset, _):
            redirect.target = target
            return append(from: offset)
        case .replaying:
            redirect.target = target
            return replay()
        }
    }

    /// All Locations of a creation must be the same (section 4.2.2).
    private mutating func take(_ location: String, from base: String) {
        guard let found = URLReference.resolve(location, against: base) else { return }
        if let url, url != found, state == .creating {
            contradiction = "the service gives two addresses for one upload"
        }
        if url == nil { url = found }
    }

    private func offset(in headers: HTTPFields) -> Int64? {
        headers[.uploadOffset].flatMap(StructuredField.integer).flatMap { $0 >= 0 ? $0 : nil }
    }

    private mutating func readLimit(_ headers: HTTPFields) {
        guard let found = headers[.uploadLimit].flatMap(UploadLimit.init) else { return }
        // A limit that was found the hard way is not raised again.
        let known = limit?.maximumAppend
        limit = found
        if let seconds = found.maximumAge { lifetime = .lasting(.seconds(seconds)) }
        if let known { limit?.maximumAppend = min(known, found.maximumAppend ?? known) }
    }
}
