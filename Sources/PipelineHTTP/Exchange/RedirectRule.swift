import HTTPTypes

/// Which answer is followed, and with what request (RFC 9110 §15.4).
package struct RedirectRule {
    /// The number that may be followed.
    let limit: Int
    /// True when credentials may go to another origin.
    let keepsCredentials: Bool

    init(_ options: ExchangeOptions, method: HTTPRequest.Method) {
        limit = options.redirects ?? (method == .get || method == .head ? 10 : 0)
        keepsCredentials = options.redirectKeepsCredentials
    }

    /// True for an answer that leads elsewhere, when following is allowed at all.
    func follows(status: Int, headers: HTTPFields) -> Bool {
        limit > 0 && [301, 302, 303, 307, 308].contains(status) && headers[.location] != nil
    }

    /// The method of the next hop: 303 turns all but HEAD into GET, 301 and 302 turn POST into GET, as browsers do; 307 and
    /// 308 keep it.
    package static func method(after method: HTTPRequest.Method, status: Int) -> HTTPRequest.Method {
        let turnsToGet = status == 303 ? method != .head : status < 303 && method == .post
        return turnsToGet ? .get : method
    }

    /// The fields that say something of the body, and go with it (RFC 9110, section 15.4; RFC 9530), in lower case.
    private static let bodyFields: Set<String> = [
        "content-type", "content-encoding", "content-language", "content-location", "content-digest", "repr-digest",
        "content-md5", "digest", "x-amz-content-sha256",
    ]

    /// The reason why a redirect is not followed.
    struct Refusal: Error {
        let reason: ExchangeFailure.Reason
    }

    /// Returns whether the next hop would bring a body that is made from a secret to another origin.
    private func withholdsBody(of next: RequestDescription, after request: RequestDescription) -> Bool {
        next.bodyHoldsSecret && !next.body.isNone && !keepsCredentials
            && !URLParts.haveSameOrigin(request.url, next.url)
    }

    /// The request of the next hop; it has the body as long as it keeps its method. Credentials stay with their origin; a
    /// signature, which covers the URL, is made anew.
    func next(
        after request: RequestDescription, status: Int, to url: String
    ) throws(Refusal) -> RequestDescription {
        var next = request
        next.url = URLParts.withoutUser(url)?.url ?? url
        next.method = Self.method(after: request.method, status: status)
        if next.method != request.method || status == 303 && request.method != .head {
            next.body = .none
            next.headers = HTTPFields(next.headers.filter { !Self.bodyFields.contains($0.name.canonicalName) })
        }
        // Whose work this is concerns the service alone.
        if !URLParts.haveSameOrigin(request.url, next.url) { next.headers[.traceparent] = nil }
        if !keepsCredentials, !URLParts.haveSameOrigin(request.url, next.url) {
            next.headers = HTTPFields(
                request.headers.filter { !request.isCredential($0.name) && next.headers.contains($0.name) })
            next.credentials.sign = nil
        }
        if withholdsBody(of: next, after: request) {
            throw Refusal(reason: .bodyWithheld(URLParts(next.url)?.origin ?? next.url))
        }
        do throws(RequestFailure) {
            if let sign = next.credentials.sign { try sign(&next) }
        } catch {
            throw Refusal(reason: .invalidRequest(error.message))
        }
        return next
    }
}
