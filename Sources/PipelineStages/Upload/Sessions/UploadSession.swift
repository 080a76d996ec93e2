import HTTPTypes
import PipelineHTTP

/// The client's side of one upload: from each response to the next request, and nothing else.
protocol UploadSession: Sendable {
    var position: UploadPosition { get set }
    /// The name of what it speaks, for people.
    var language: String { get }
    /// True while the response that is waited for was asked for again.
    var isReplaying: Bool { get }
    /// True when a new upload can be made where this one is lost.
    var canBeMadeAnew: Bool { get }
    /// The request that ends the upload at the service; nil when there is nothing there.
    var cancellation: UploadRequest? { get }

    /// The first request.
    mutating func begin() -> UploadStep
    /// The step after the response to what was sent last.
    mutating func next(after response: HTTPExchangeResponse) -> UploadStep
    /// Takes a response that came before the final one.
    mutating func take(informational status: Int, _ headers: HTTPFields, from url: String)
    /// Takes over what a restart needs of it.
    func record(in checkpoint: inout UploadCheckpoint)
}

extension UploadSession {
    var canBeMadeAnew: Bool { true }

    mutating func take(informational status: Int, _ headers: HTTPFields, from url: String) {}

    func record(in checkpoint: inout UploadCheckpoint) { recordPosition(in: &checkpoint) }

    func recordPosition(in checkpoint: inout UploadCheckpoint) {
        checkpoint.terms.chunk = position.chunk.most
        checkpoint.terms.safeChunk = position.chunk.safe
        checkpoint.progress.confirmed = position.confirmed
        var upload = OpenUpload()
        if case .open(let known) = checkpoint.phase { upload = known }
        (upload.url, upload.mayBeComplete) = (position.url, position.mayBeComplete)
        let isOpen = upload.url != nil || upload.mayBeComplete || position.confirmed > 0
        checkpoint.phase = isOpen ? .open(upload) : .pending
    }
}

/// `put` and `multipart`: one request whose response ends the upload. After an interruption it is sent again, whole.
struct WholeSession: UploadSession, Equatable {
    /// True when the file stands in a form with other fields.
    let isForm: Bool
    var position: UploadPosition

    init(isForm: Bool, total: Int64) {
        self.isForm = isForm
        position = UploadPosition(total: total, chunk: UploadChunk(part: .max))
    }

    var language: String { "HTTP" }
    var isReplaying: Bool { false }
    var cancellation: UploadRequest? { nil }

    func begin() -> UploadStep {
        .send(UploadRequest(purpose: .whole, body: isForm ? .form : .file(offset: 0, count: position.total)))
    }

    func next(after response: HTTPExchangeResponse) -> UploadStep { .done }

    /// It has nothing to go on with.
    func record(in checkpoint: inout UploadCheckpoint) {}
}
