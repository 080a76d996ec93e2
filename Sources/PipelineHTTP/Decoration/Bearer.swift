/// A bearer token (RFC 6750).
public struct Bearer: CredentialDecorator {
    private let token: String

    /// A token (RFC 6750, section 2.1).
    public init(token: String) {
        self.token = token
    }

    public var phase: DecorationPhase { .credentials }
    public var account: String { token }

    public func decorate(_ request: inout RequestDescription, in context: DecorationContext) throws(RequestFailure) {
        guard request.claimCredentials() else { return }
        try request.setCredentialHeader("Authorization", to: "Bearer \(token)")
    }
}
