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
struct ResumableSession: UploadSession, Equatable {
    /// The request by which an upload is made.
    private struct Creation: Sendable, Equatable {
        /// The URL after a redirect; nil for the author's URL.
        var url: String?
        /// True when all bytes go along.
        var bringsAll: Bool
        /// True when it is the author's request alone: one with the fields of this protocol was refused.
        var isPlain = false
        /// True once something in a response has shown that the service knows this protocol.
        var hasEvidence = false
    }

    private enum State: Sendable, Equatable {
        case creating(Creation)
        case asking
        case appending(from: Int64, count: Int64)
        case replaying
        /// The service gave two addresses.
        case contradicted
    }

    /// The ground on which the version rests.
    private enum Agreement: Sendable, Equatable {
        /// Nothing yet.
        case proposed
        /// The service has answered in it: it never changes after that.
        case settled
        /// A service that said nothing when it was asked what it speaks gets the file as in a plain request, and with it the
        /// fields of this protocol; whether it knows them is seen by its response.
        case offered
    }

    private(set) var version: InteropVersion
    var position: UploadPosition
    /// True for an upload that began as an offer, whatever became of that.
    private let isOffer: Bool
    private var agreement: Agreement
    private var limit: UploadLimit?
    private var state: State
    /// True when the service refused a creation that brought all bytes: until one is accepted no bytes go along.
    private(set) var refusesBytes = false

    /// A session for a new upload.
    init(
        total: Int64, version: InteropVersion = .newest, isVersionSettled: Bool = false, isOptimistic: Bool = false,
        isOffer: Bool = false, chunk: UploadChunk = UploadChunk(part: .max)
    ) {
        self.version = version
        self.isOffer = isOffer
        position = UploadPosition(total: total, chunk: chunk)
        agreement = isOffer ? .offered : isVersionSettled ? .settled : .proposed
        state = .creating(Creation(bringsAll: isOptimistic))
    }

    /// A session for a new upload at a service of which nobody knows whether it speaks this protocol.
    init(offering total: Int64, chunk: UploadChunk) {
        self.init(total: total, isOptimistic: true, isOffer: true, chunk: chunk)
    }

    /// A session that goes on with an upload.
    init(
        total: Int64, version: InteropVersion, url: String, confirmed: Int64, mayBeComplete: Bool,
        chunk: UploadChunk = UploadChunk(part: .max)
    ) {
        self.version = version
        position = UploadPosition(
            total: total, chunk: chunk, url: url, confirmed: confirmed, mayBeComplete: mayBeComplete)
        isOffer = false
        agreement = .settled
        state = .asking
    }

    var language: String { "resumable uploads (interop versions 8, 6, 5 and 3 of the IETF's draft)" }

    /// True while the response that is waited for is one that was asked for again.
    var isReplaying: Bool { state == .replaying }

    /// The length of the file.
    private var total: Int64 { position.total }

    /// The first request.
    mutating func begin() -> UploadStep {
        if case .creating(let creation) = state { create(creation) } else { ask() }
    }

    /// Takes a 1xx answer: the URL of the upload, its limits, and an offset that the service vouches for. What does not
    /// carry the same version is ignored, as the draft says (section 4.4.1).
    mutating func take(informational status: Int, _ headers: HTTPFields, from requestURL: String) {
        guard status == 104, headers[.uploadDraftInteropVersion] == String(version.rawValue) else { return }
        noteEvidence()
        readLimit(headers)
        if let location = headers[.location] { take(location, from: requestURL) }
        if let offset = offset(in: headers), offset <= total { position.confirmed = max(position.confirmed, offset) }
    }

    /// Takes the answer to the request that was sent last.
    mutating func next(after response: HTTPExchangeResponse) -> UploadStep {
        readLimit(response.headers)
        if let target = UploadRedirect.target(of: response), let step = follow(target, response.status) { return step }
        if Self.speaksOfUploads(response) { position.believeRedirect() }
        return position.redirect.step(after(response), after: response)
    }

    private mutating func after(_ response: HTTPExchangeResponse) -> UploadStep {
        switch state {
        case .creating(let creation):
            creation.bringsAll ? afterWhole(response, creation) : afterCreation(response, creation)
        case .asking: afterOffset(response)
        case .appending(let offset, let count): afterAppend(response, from: offset, count: count)
        case .replaying: afterReplay(response)
        case .contradicted: .fail(.contradiction("the service gives two addresses for one upload"))
        }
    }

    private static func speaksOfUploads(_ response: HTTPExchangeResponse) -> Bool {
        response.headers.contains { $0.name.canonicalName.hasPrefix("upload-") }
    }

    private mutating func noteEvidence() {
        guard case .creating(var creation) = state else { return }
        creation.hasEvidence = true
        state = .creating(creation)
    }

    /// The request that ends the upload without a result; nil when there is none.
    var cancellation: UploadRequest? {
        position.url.map { version.request(.cancel, .delete, $0) }
    }

    func record(in checkpoint: inout UploadCheckpoint) {
        // What is only offered has nothing to go on with before the service has taken it up.
        if isOffer {
            guard agreement == .settled || position.url != nil else { return }
            checkpoint.terms.chosen = .resumable
        }
        recordPosition(in: &checkpoint)
        if agreement == .settled || position.url != nil { checkpoint.terms.version = version }
        if refusesBytes { checkpoint.terms.refusesBytes = true }
    }

    // MARK: Requests

    private mutating func create(_ creation: Creation) -> UploadStep {
        state = .creating(creation)
        // Its response may be the one that ends the upload.
        position.begin(bringsEnd: creation.bringsAll)
        var request = version.creation(at: creation.url, of: total, bringsAll: creation.bringsAll)
        if agreement == .offered { (request.purpose, request.note) = (.whole, .none) }
        if creation.isPlain { request.headers = [:] }
        return .send(request)
    }

    private mutating func ask() -> UploadStep {
        state = .asking
        return .send(version.request(.ask, .head, position.target))
    }

    /// The rest in one request, or as much of it as the service takes at a time.
    private mutating func append(from offset: Int64) -> UploadStep {
        guard offset <= total else { return beyondEnd(offset) }
        if let maximum = limit?.maximumSize, total > maximum { return .fail(.tooLarge(maximum)) }
        if let minimum = limit?.minimumSize, total < minimum { return .fail(.tooSmall(minimum)) }
        position.confirmed = offset
        let most = max(position.chunk.size ?? .max, limit?.minimumAppend ?? 0)
        let count = min(total - offset, most, limit?.maximumAppend ?? .max)
        let isLast = offset + count == total
        position.begin(bringsEnd: isLast)
        state = .appending(from: offset, count: count)
        return .send(version.append(offset..<offset + count, to: position.target, isLast: isLast))
    }

    /// An empty append to a complete upload: a service can give its last answer again (section 4.4.2).
    private mutating func replay() -> UploadStep {
        state = .replaying
        position.noteWhole()
        return .send(version.append(total..<total, to: position.target, isLast: true, .replay))
    }

    // MARK: Answers

    private mutating func afterCreation(_ response: HTTPExchangeResponse, _ creation: Creation) -> UploadStep {
        if agreement == .proposed, Self.refusesVersion(response.status) { return tryOlderVersion(response, creation) }
        guard response.isSuccess else { return .fail(.refused) }
        if let failure = takeAddress(response) { return failure }
        agreement = .settled
        let kept = offset(in: response.headers) ?? 0
        guard kept <= total else { return beyondEnd(kept) }
        // A Location alone can be that of something else: a service that knows nothing of this protocol answers so too.
        // And of nothing that was sent nothing can be there.
        return kept == 0 && (creation.hasEvidence || Self.speaksOfUploads(response)) ? append(from: 0) : ask()
    }

    /// Takes the address out of a creation's response; a failure when there is none.
    private mutating func takeAddress(_ response: HTTPExchangeResponse) -> UploadStep? {
        if let location = response.headers[.location] { take(location, from: response.url) }
        if state == .contradicted { return after(response) }
        return position.url == nil ? .fail(.unsupported) : nil
    }

    private func beyondEnd(_ offset: Int64) -> UploadStep {
        .fail(.wrong("the service says it has \(offset) bytes of a file that has \(total)"))
    }

    /// The response to all bytes at once: that of the upload's target, unless it says that something is missing.
    private mutating func afterWhole(_ response: HTTPExchangeResponse, _ creation: Creation) -> UploadStep {
        let isComplete = version.isComplete(in: response.headers)
        if isComplete == true || (response.isSuccess && isComplete == nil) { return .done }
        // A service that shows nothing of this protocol was sent a plain request.
        if agreement == .offered, isComplete == nil, position.url == nil { return afterOffer(response, creation) }
        if response.isSuccess {
            if let failure = takeAddress(response) { return failure }
            agreement = .settled
            return ask()
        }
        // What was refused is not there, and the bytes are not risked again before a creation is accepted.
        if response.status < 500 || response.status == 503 {
            position.noteRefusal()
            refusesBytes = true
        }
        if agreement == .proposed, Self.refusesVersion(response.status) {
            var next = creation
            next.bringsAll = false
            return tryOlderVersion(response, next)
        }
        guard response.status == 413 else { return .fail(.refused) }
        if position.url != nil { return afterTooMuch(response, total) }
        return create(Creation(url: creation.url, bringsAll: false))
    }

    /// The response to an offer that was not taken up: that of the target, unless it may be about what was offered.
    private mutating func afterOffer(_ response: HTTPExchangeResponse, _ creation: Creation) -> UploadStep {
        guard Self.refusesVersion(response.status), !creation.isPlain else { return .done }
        let named = InteropVersion.named(in: response.headers)
        // It speaks this version and refuses all the same: that is about the request.
        if named == version { return .done }
        position.noteRefusal()
        if let named {
            (version, agreement, refusesBytes) = (named, .settled, true)
            return create(Creation(bringsAll: false))
        }
        // The fields were an idea of the program's, and the author's request may be taken without them.
        return create(Creation(bringsAll: true, isPlain: true))
    }

    /// 400 is what most say to a version they don't speak; tusd says 412 and gateways 501 or 505.
    private static func refusesVersion(_ status: Int) -> Bool { [400, 412, 422, 426, 501, 505].contains(status) }

    private mutating func tryOlderVersion(_ response: HTTPExchangeResponse, _ creation: Creation) -> UploadStep {
        let named = InteropVersion.named(in: response.headers)
        // It speaks this version and refuses all the same: that is about the request.
        if named == version { return .fail(.refused) }
        let proposed = named.flatMap { $0 < version ? $0 : nil }
        guard let older = proposed ?? version.older else { return .fail(.refused) }
        version = older
        return create(creation)
    }

    private mutating func afterOffset(_ response: HTTPExchangeResponse) -> UploadStep {
        if response.status == 404 || response.status == 410 { return .fail(.gone) }
        if response.status == 409 || response.status == 423 { return .fail(.busy) }
        guard response.isSuccess else { return .fail(.refused) }
        guard let offset = offset(in: response.headers) else {
            return .fail(position.confirmed > 0 || position.mayBeComplete ? .unclear : .unsupported)
        }
        if let length = response.headers[.uploadLength].flatMap(StructuredField.integer), length != total {
            return .fail(.wrong("the upload there is for \(length) bytes, and the file has \(total)"))
        }
        guard offset <= total else { return beyondEnd(offset) }
        position.detours.advance(to: offset)
        position.chunk.noteKept(offset > position.confirmed)
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
        // Credentials that ended in the midst of it may be others by now.
        case 401 where position.detours.areFew: return position.detours.add("") ?? ask()
        default: return .fail(.refused)
        }
    }

    /// There are services (tusd) that say only by the offset that an upload is complete, and others that say nothing.
    private mutating func afterLast(_ response: HTTPExchangeResponse, _ isComplete: Bool?) -> UploadStep {
        let offset = offset(in: response.headers)
        if isComplete == nil, offset == nil, response.isPage { return .fail(.unclear) }
        guard isComplete ?? ((offset ?? total) >= total) == false else { return .done }
        let complaint = "the service takes all bytes and says that the upload is not complete"
        return position.detours.add(complaint, isResent: (offset ?? total) < total) ?? ask()
    }

    private mutating func afterPart(_ response: HTTPExchangeResponse, _ start: Int64, _ count: Int64) -> UploadStep {
        let offset = offset(in: response.headers) ?? start + count
        // More than it was sent: what it has is asked for before that is believed.
        if offset > start + count {
            return position.detours.add("the service says it has more than it was sent") ?? ask()
        }
        if offset > start {
            position.detours.advance(to: offset)
            position.chunk.noteSent(offset - start, in: response.timings)
            return append(from: offset)
        }
        let complaint = "the service answers \(response.status) to bytes that it does not keep"
        return position.detours.add(complaint, isResent: true) ?? ask()
    }

    private mutating func afterConflict(_ response: HTTPExchangeResponse) -> UploadStep {
        if let end = position.detours.add("the service keeps changing its mind about the offset") { return end }
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
        position.chunk.shrink(to: smaller)
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

    /// Goes to where the upload is by now; nil for a response that redirects nothing.
    private mutating func follow(_ target: String, _ status: Int) -> UploadStep? {
        if case .contradicted = state { return nil }
        if case .creating = state, status <= 303 || agreement == .offered { return nil }
        if let end = position.detours.add("the service redirects again and again") { return end }
        if case .creating(var creation) = state {
            creation.url = target
            return create(creation)
        }
        position.redirect.target = target
        switch state {
        case .appending(let offset, _): return append(from: offset)
        case .replaying: return replay()
        default: return ask()
        }
    }

    /// All Locations of a creation must be the same (section 4.2.2).
    private mutating func take(_ location: String, from base: String) {
        guard let found = URLReference.resolve(location, against: base) else { return }
        if let url = position.url, url != found, case .creating = state { state = .contradicted }
        if position.url == nil { position.url = found }
    }

    private func offset(in headers: HTTPFields) -> Int64? {
        headers[.uploadOffset].flatMap(StructuredField.integer).flatMap { $0 >= 0 ? $0 : nil }
    }

    private mutating func readLimit(_ headers: HTTPFields) {
        guard let found = headers[.uploadLimit].flatMap(UploadLimit.init) else { return }
        // A limit that was found the hard way is not raised again.
        let known = limit?.maximumAppend
        limit = found
        if let seconds = found.maximumAge { position.lifetime = .lasting(.seconds(seconds)) }
        if let known { limit?.maximumAppend = min(known, found.maximumAppend ?? known) }
    }
}
