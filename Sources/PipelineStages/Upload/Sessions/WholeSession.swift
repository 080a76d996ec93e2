import PipelineHTTP

/// `put` and `multipart`: one request whose answer ends the upload. After an interruption it is sent again, whole.
struct WholeSession: Sendable, Equatable {
    /// Whether the file stands in a form with other fields.
    let isForm: Bool
    /// The length of the file.
    let total: Int64

    func begin() -> UploadStep {
        .send(UploadRequest(purpose: .whole, body: isForm ? .form : .file(offset: 0, count: total)))
    }

    func next(after response: HTTPExchangeResponse) -> UploadStep { .done }
}
