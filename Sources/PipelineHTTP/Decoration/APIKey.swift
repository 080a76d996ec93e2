/// A key under a name of the service's own, as a header field or a query parameter.
public struct APIKey: CredentialDecorator {
    /// The place where the key stands.
    public enum Place: Sendable, Equatable {
        case header(String)
        case query(String)
    }

    /// The place where the key stands.
    public let place: Place
    private let value: String

    /// A key in a header or in the query.
    public init(_ place: Place, value: String) {
        self.place = place
        self.value = value
    }

    public var phase: DecorationPhase { .credentials }
    public var account: String { value }

    public func decorate(_ request: inout RequestDescription, in context: DecorationContext) throws(RequestFailure) {
        guard request.claimCredentials() else { return }
        switch place {
        case .header(let name): try request.setCredentialHeader(name, to: value)
        case .query(let name):
            // The link to a next page may bring it already, and a service may make a list of two.
            guard !request.parameterNames.contains(PercentEncoding.component(name)) else { return }
            request.query.append((name, value))
        }
    }
}
