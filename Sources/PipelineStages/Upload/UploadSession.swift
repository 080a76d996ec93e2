import HTTPTypes

/// A request of an upload, as a change to the one that the author wrote.
struct UploadRequest: Sendable, Equatable {
    /// What it is for.
    enum Purpose: Sendable {
        /// Makes an upload at the service; the author's request with more fields.
        case create
        /// Asks how much the service has.
        case ask
        /// Sends bytes.
        case append
        /// Asks once more for the answer that ended the upload.
        case replay
        /// Sends all in one request; the author's request with a body.
        case whole
        /// Ends the upload without a result.
        case cancel
    }

    enum Body: Sendable, Equatable {
        case none
        case empty
        /// A stretch of the file.
        case file(offset: Int64, count: Int64)
        /// The form with the fields and the file.
        case form
    }

    var purpose: Purpose
    /// Nil for the author's.
    var method: HTTPRequest.Method?
    /// Absolute; nil for the author's.
    var url: String?
    /// Fields that the protocol wants.
    var headers: HTTPFields = [:]
    var body = Body.none
}

/// What a session wants done.
enum UploadStep: Sendable, Equatable {
    /// Send this, and come back with the answer.
    case send(UploadRequest)
    /// The answer that was just given ends the upload: it is the one that the author's captures and rules are about.
    case done
    case fail(UploadFailure)
}

/// Why a session can't go on.
enum UploadFailure: Error, Sendable, Hashable {
    /// The answer just given is an error; its status and the author's rules say what follows.
    case refused
    /// Another request still holds the upload (423).
    case busy
    /// The service no longer knows the upload, or never says what became of it.
    case gone
    /// The service speaks none of the versions.
    case unsupported
    /// The service contradicts itself or the protocol.
    case wrong(String)
    /// The service takes no file of this size; the limit in bytes.
    case tooLarge(Int64)
    /// The service wants larger files; the limit in bytes.
    case tooSmall(Int64)
}
