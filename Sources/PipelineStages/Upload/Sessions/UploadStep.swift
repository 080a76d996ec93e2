import HTTPTypes

/// A request of an upload, as a change to the one that the author wrote.
struct UploadRequest: Sendable, Equatable {
    /// The purpose of the request.
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

    /// The note of a creation about the file besides its length.
    enum Note: Sendable {
        case none
        /// `Content-Type` and `Content-Disposition`
        case disposition
        /// `Upload-Metadata` of tus
        case metadata
        /// `X-Upload-Content-Type`
        case contentFields
    }

    var purpose: Purpose
    /// Nil for the author's.
    var method: HTTPRequest.Method?
    /// Absolute; nil for the author's.
    var url: String?
    /// Fields that the protocol wants.
    var headers: HTTPFields = [:]
    var body = Body.none
    var note = Note.none
    /// The checksum by which the service checks the bytes of the file that are in the body; nil when it does not.
    var checksum: UploadChecksum?
    /// True if the author's conditions (`If-None-Match` and its like) go along: they are about what the upload ends in.
    var keepsConditions = false
}

/// The next step that a session wants done.
enum UploadStep: Sendable, Equatable {
    /// Send this, and come back with the answer.
    case send(UploadRequest)
    /// The answer that was just given ends the upload: it is the one that the author's captures and rules are about.
    case done
    case fail(UploadFailure)
}

/// The reason why a session can't go on.
enum UploadFailure: Error, Sendable, Hashable {
    /// The answer just given is an error; its status and the author's rules say what follows.
    case refused
    /// Another request still holds the upload (423).
    case busy
    /// The service refuses bytes again and again with that status: another request may still hold the upload.
    case refusing(Int)
    /// The service no longer knows the upload, or never says what became of it.
    case gone
    /// An answer about an upload that is there says nothing of it: somebody else on the way may have given it.
    case unclear
    /// The service speaks none of the versions.
    case unsupported
    /// The service gives more than one address for one upload: it is to be ended there (draft, section 4.2.2).
    case contradiction(String)
    /// The service contradicts itself or the protocol.
    case wrong(String)
    /// The service takes no file of this size; the limit in bytes.
    case tooLarge(Int64)
    /// The service wants larger files; the limit in bytes.
    case tooSmall(Int64)
}
