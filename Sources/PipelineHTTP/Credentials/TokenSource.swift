/// The source of a request's bearer token. Equal sources share one token.
public enum TokenSource: Sendable, Hashable {
    /// An endpoint gives it.
    case endpoint(TokenGrant)
    /// It is signed here.
    case signed(SignedToken)

    /// The token in words, for a plan: without secrets.
    public var title: String {
        switch self {
        case .endpoint(let grant): "token from \(grant.tokenURL)"
        case .signed(let token): "\(token.algorithm.rawValue) token"
        }
    }

    /// Everything that tells it from other sources, secrets among it.
    var identity: [String] {
        switch self {
        case .endpoint(let grant):
            [grant.tokenURL, grant.clientID, grant.clientSecret, grant.scope, grant.audience, grant.refreshToken]
                .map { $0 ?? "" } + (grant.assertion?.identity ?? [])
        case .signed(let token): token.identity
        }
    }
}
