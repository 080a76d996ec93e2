public import HTTPTypes

/// An answer whose status is not one of those expected.
public struct StatusCodeError: Error, Sendable, Equatable {
    /// The status of the response.
    public let status: Int
    /// The method of the request.
    public let method: HTTPRequest.Method
    /// Without query and user: those can hold secrets.
    public let url: String
    /// The headers of the response.
    public let headers: HTTPFields
    /// The first of the body as text, control characters replaced; at most 1,024 bytes.
    public let bodyStart: String

    /// Says that a response has a status that was not expected; of its body it keeps the beginning.
    public init(_ response: HTTPExchangeResponse, to request: RequestDescription) {
        status = response.status
        method = request.method
        headers = response.headers
        url = Self.publicURL(response.url.isEmpty ? request.url : response.url)
        let text = String(decoding: response.body.prefix(1024), as: UTF8.self)
        bodyStart = String(
            String.UnicodeScalarView(
                text.unicodeScalars.map { $0 == "\n" || ($0.value >= 32 && $0.value != 127) ? $0 : " " }))
    }

    /// The mistake as a title, for a person.
    public var title: String { "\(method.rawValue) \(url) was answered with status \(status)" }

    /// Advice on what to do about it, for a person.
    public var hint: String {
        switch status {
        case 401: "Check the credentials that this request sends."
        case 403: "The credentials are known but do not allow this."
        case 404, 410: "Check the URL: there is nothing there (any more)."
        case 429: "The service asks for fewer requests; try again later."
        case 500...: "The service has a problem of its own; try again later."
        default: "The start of the answer says more, if the service does."
        }
    }

    private static func publicURL(_ url: String) -> String {
        guard let parts = URLParts(url) else { return "" }
        let host = parts.authority.unicodeScalars.split(separator: "@").last.map { String($0) } ?? ""
        return "\(parts.scheme)://\(host)\(parts.path)"
    }
}
