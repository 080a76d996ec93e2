/// The position of an upload that goes on at an offset: what every such protocol knows of it.
struct UploadPosition: Sendable, Equatable {
    private enum Ending: Sendable {
        /// No request was begun that brings the last byte.
        case ahead
        /// The last request of all is the first that brings it.
        case begun
        case possible
    }

    /// The length of the file.
    let total: Int64
    /// The place where the upload is; nil before the service has said so, and for one that the author's request names.
    var url: String?
    /// The number of bytes that the service is known to have: they need not be sent again.
    var confirmed: Int64
    /// The size of one append.
    var chunk: UploadChunk
    /// Until when the service keeps the upload, as the last response said it; nil when it did not.
    var lifetime: UploadLifetime?
    var redirect = UploadRedirect()
    var detours: UploadDetours
    private var ending: Ending

    init(
        total: Int64, chunk: UploadChunk, url: String? = nil, confirmed: Int64 = 0, mayBeComplete: Bool = false
    ) {
        self.total = total
        self.chunk = chunk
        self.url = url
        self.confirmed = confirmed
        detours = UploadDetours(from: confirmed)
        ending = mayBeComplete ? .possible : .ahead
    }

    /// The place where requests about the upload go.
    var target: String? { redirect.target ?? url }

    /// True once a request was begun whose response may be the one that ends the upload.
    var mayBeComplete: Bool { ending != .ahead }

    /// Notes that a request is begun.
    /// - Parameter bringsEnd: whether its response may end the upload.
    mutating func begin(bringsEnd: Bool) {
        if ending == .begun { ending = .possible }
        if bringsEnd, ending == .ahead { ending = .begun }
    }

    /// Takes back that the request sent last may have ended the upload: its last byte did not go out.
    mutating func takeBack() {
        if ending == .begun { ending = .ahead }
    }

    /// Notes that what was sent was refused as a whole: nothing of it is there.
    mutating func noteRefusal() { ending = .ahead }

    /// Notes that the service has all bytes.
    mutating func noteWhole() {
        confirmed = total
        ending = .possible
    }

    /// The address that a redirect led to has proven itself.
    mutating func believeRedirect() { url = redirect.take() ?? url }
}
