import HTTPTypes
import PipelineCore
import PipelineHTTP

/// Asks a service which way of uploading it speaks, where the document leaves that open.
///
/// `OPTIONS` of the upload's own URL: an `Upload-Limit` says resumable uploads (draft-ietf-httpbis-resumable-upload,
/// section 4.1.4), and so does an interop version, also in a refusal of the one that was proposed; a `Tus-Version` or `Tus-Resumable` with the extension `creation` says tus. Any other answer says
/// neither, but for one that may be about something else: those are failures of the try.
struct UploadChoice: Sendable {
    let requests: UploadRequests
    let source: SourceFile

    func make(in context: StageContext<UploadCheckpoint>) async throws(StageFailure)
        -> UploadTerms
    {
        let version = InteropVersion.newest.field
        let request = UploadRequest(
            purpose: .ask, method: .options, headers: [version.name: version.value, .tusResumable: "1.0.0"])
        let rendered = try await requests.render(request, of: source, in: context)
        switch await requests.requests.send(rendered, in: context) {
        case .failure(let failure): throw requests.requests.failure(failure, of: rendered, in: context)
        case .success(let response):
            // A network that wants a person to log in redirects too; the choice is for good.
            if requests.definition.redirects == nil, UploadRedirect.target(of: response) != nil {
                let failure = requests.requests.failure(
                    "\(requests.requests.name(of: rendered.description.url)) redirects the question what it speaks",
                    requests.requests.answer(of: response), of: rendered,
                    hint: "log in to the network, or name the place itself", in: context)
                throw .failed(AttemptFailure(failure, kind: .answered))
            }
            if Self.isAboutSomethingElse(response.status) {
                _ = try await requests.requests.judge(response, of: rendered, in: context)
            }
            return Self.choice(from: response, method: requests.definition.method)
        }
    }

    /// Returns what an answer to `OPTIONS` means.
    static func choice(from response: HTTPExchangeResponse, method: HTTPRequest.Method) -> UploadTerms {
        let version = InteropVersion.named(in: response.headers)
        if version != nil || response.headers[.uploadLimit].flatMap(UploadLimit.init) != nil {
            return UploadTerms(chosen: .resumable, version: version)
        }
        let speaksTus = response.headers[.tusVersion] ?? response.headers[.tusResumable]
        let versions = speaksTus?.split(separator: ",").map { $0.filter { $0 != " " } } ?? []
        let extensions = response.headers[.tusExtension]?.split(separator: ",").map { $0.filter { $0 != " " } } ?? []
        // tus makes uploads by POST alone.
        if method == .post, versions.contains("1.0.0"), extensions.contains("creation") {
            return UploadTerms(chosen: .tus, offer: TusOffer(response.headers))
        }
        return UploadTerms(chosen: .put)
    }

    /// Returns whether another try, or other credentials, could bring another answer. 501 says that there is no
    /// OPTIONS.
    private static func isAboutSomethingElse(_ status: Int) -> Bool {
        [401, 403, 408, 425, 429].contains(status) || (status >= 500 && status != 501)
    }
}

extension HTTPField.Name {
    static let tusExtension = HTTPField.Name("Tus-Extension")!
}
