import HTTPTypes

/// An answer that says what went wrong, as problem details (RFC 9457).
struct Problem: Error, Equatable {
    var status: HTTPResponse.Status
    var detail: String
    /// Further fields that the status asks for, such as `Allow`.
    var fields: HTTPFields = [:]

    static func badRequest(_ detail: String) -> Problem { Problem(status: .badRequest, detail: detail) }
    static func notFound(_ detail: String) -> Problem { Problem(status: .notFound, detail: detail) }
    static func conflict(_ detail: String) -> Problem { Problem(status: .conflict, detail: detail) }
    static func unprocessable(_ detail: String) -> Problem { Problem(status: .unprocessableContent, detail: detail) }

    static func methodNotAllowed(_ allowed: [HTTPRequest.Method]) -> Problem {
        let methods = allowed.map(\.rawValue).joined(separator: ", ")
        return Problem(status: .methodNotAllowed, detail: "allowed here: \(methods)", fields: [.allow: methods])
    }

    /// RFC 6750 §3: the error code only if a token was sent.
    static func unauthorized(tokenSent: Bool) -> Problem {
        let challenge = "Bearer realm=\"selfie-studio\""
        return Problem(
            status: .unauthorized,
            detail: tokenSent ? "the bearer token is wrong" : "a bearer token is needed",
            fields: [.wwwAuthenticate: tokenSent ? challenge + ", error=\"invalid_token\"" : challenge]
        )
    }

    static let unavailable = Problem(
        status: .serviceUnavailable, detail: "this request fails on purpose", fields: [.retryAfter: "1"]
    )
}
