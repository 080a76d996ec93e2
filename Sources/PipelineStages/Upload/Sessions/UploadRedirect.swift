import HTTPTypes
import PipelineCore
import PipelineHTTP

/// The URL of an upload by now, as a redirect has said: behind a proxy many services give addresses that it redirects.
///
/// It is the upload's address only once an answer from there says something of the upload. A network that wants a
/// person to log in redirects too, and its page knows nothing of uploads.
struct UploadRedirect: Sendable, Equatable {
    /// The address that is tried; nil without a redirect, and once it has proven itself.
    var target: String?

    /// Returns where an answer leads; nil for one that does not. All but 303 keep the method of anything that is no
    /// POST (RFC 9110, section 15.4).
    static func target(of response: HTTPExchangeResponse) -> String? {
        guard [301, 302, 307, 308].contains(response.status), let location = response.headers[.location] else {
            return nil
        }
        return URLReference.resolve(location, against: response.url)
    }

    /// The target, which has proven itself; nil when there is none.
    mutating func take() -> String? { target.take() }

    /// A step after an answer, which decides nothing of the upload as long as it came from anywhere. That the upload is
    /// gone is believed of a program's answer: it could never be made again otherwise.
    func step(_ step: UploadStep, after response: HTTPExchangeResponse) -> UploadStep {
        guard target != nil else { return step }
        switch step {
        case .send, .fail(.wrong), .fail(.contradiction): return step
        case .fail(.gone) where !response.isPage: return step
        case .done, .fail: return .fail(.unclear)
        }
    }
}
