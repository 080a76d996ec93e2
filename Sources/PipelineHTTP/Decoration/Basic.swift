/// A user and a password (RFC 7617, in UTF-8).
public struct Basic: CredentialDecorator {
    private let user: String
    private let password: String

    /// A user and a password (RFC 7617).
    public init(user: String, password: String) {
        self.user = user
        self.password = password
    }

    public var phase: DecorationPhase { .credentials }
    public var account: String { "\(user):\(password)" }

    public func decorate(_ request: inout RequestDescription, in context: DecorationContext) throws(RequestFailure) {
        guard !user.contains(":") else { throw RequestFailure("a user name can't contain a colon (RFC 7617)") }
        guard request.claimCredentials() else { return }
        try request.setCredentialHeader("Authorization", to: Self.value(user: user, password: password))
    }

    /// The field's value for people who want to see what goes into it.
    package var described: String { "Basic ‹base64 of \(user):\(password)›" }

    static func value(user: String, password: String) -> String {
        "Basic \(Base64Bytes.encode("\(user):\(password)".utf8))"
    }
}
