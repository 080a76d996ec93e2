import HTTPTypes
import PipelineHTTP

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

    /// What a creation says of the file beside its length.
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
    /// How the service checks the bytes of the file that are in the body; nil when it does not.
    var checksum: UploadChecksum?
    /// Whether the author's conditions (`If-None-Match` and its like) go along: they are about what the upload ends in.
    var keepsConditions = false
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

/// The session of whichever protocol is spoken.
enum UploadSession: Sendable, Equatable {
    case whole(WholeSession)
    case resumable(ResumableSession)
    case tus(TusSession)
    case google(GoogleSession)

    mutating func begin() -> UploadStep {
        switch self {
        case .whole(let session): return session.begin()
        case .resumable(var session):
            defer { self = .resumable(session) }
            return session.begin()
        case .tus(var session):
            defer { self = .tus(session) }
            return session.begin()
        case .google(var session):
            defer { self = .google(session) }
            return session.begin()
        }
    }

    /// The step after the answer to what was sent last.
    mutating func next(after response: HTTPExchangeResponse) -> UploadStep {
        switch self {
        case .whole(let session): return session.next(after: response)
        case .resumable(var session):
            defer { self = .resumable(session) }
            return session.next(after: response)
        case .tus(var session):
            defer { self = .tus(session) }
            return session.next(after: response)
        case .google(var session):
            defer { self = .google(session) }
            return session.next(after: response)
        }
    }

    /// Takes an answer that came before the final one.
    mutating func take(informational status: Int, _ headers: HTTPFields, from url: String) {
        guard case .resumable(var session) = self else { return }
        session.take(informational: status, headers, from: url)
        self = .resumable(session)
    }

    /// Takes back that the request sent last may have ended the upload: its last byte did not go out.
    mutating func takeBack() {
        switch self {
        case .whole: return
        case .resumable(var session):
            session.takeBack()
            self = .resumable(session)
        case .tus(var session):
            session.takeBack()
            self = .tus(session)
        case .google(var session):
            session.takeBack()
            self = .google(session)
        }
    }

    /// What a restart needs of it.
    func note(in checkpoint: inout UploadCheckpoint) {
        switch self {
        case .whole: return
        case .resumable(let session):
            if session.isVersionSettled || session.url != nil { checkpoint.version = session.version }
            checkpoint.note(url: session.url, confirmed: session.confirmed, mayBeComplete: session.mayBeComplete)
            checkpoint.chunk = session.chunk.size
        case .tus(let session):
            checkpoint.note(url: session.url, confirmed: session.confirmed, mayBeComplete: session.mayBeComplete)
            checkpoint.offer = session.offer
            checkpoint.chunk = session.chunk.size
        case .google(let session):
            checkpoint.note(url: session.url, confirmed: session.confirmed, mayBeComplete: session.mayBeComplete)
            checkpoint.chunk = session.chunk.size
        }
    }

    /// Until when the service keeps the upload, as it said it since the last call; nil when it did not.
    mutating func takeLifetime() -> UploadLifetime? {
        switch self {
        case .whole: return nil
        case .resumable(var session):
            defer { self = .resumable(session) }
            return session.lifetime.take()
        case .tus(var session):
            defer { self = .tus(session) }
            return session.lifetime.take()
        case .google(var session):
            defer { self = .google(session) }
            return session.lifetime.take()
        }
    }

    /// Whether the answer that is waited for was asked for again.
    var isReplaying: Bool {
        switch self {
        case .whole: false
        case .resumable(let session): session.isReplaying
        case .tus(let session): session.isReplaying
        case .google(let session): session.isReplaying
        }
    }

    /// The request that ends the upload at the service; nil when there is nothing there.
    var cancellation: UploadRequest? {
        switch self {
        case .whole: nil
        case .resumable(let session): session.cancellation
        case .tus(let session): session.cancellation
        case .google(let session): session.cancellation
        }
    }

    /// What it speaks, for people.
    var language: String {
        switch self {
        case .whole: "HTTP"
        case .resumable: "resumable uploads (interop versions 8, 6, 5 and 3 of the IETF's draft)"
        case .tus: "tus 1.0.0"
        case .google: "resumable uploads as Google Cloud Storage has them"
        }
    }

    /// Whether a new upload can be made when this one is lost.
    var canBeMadeAnew: Bool { if case .google(let session) = self { !session.isGiven } else { true } }
}
