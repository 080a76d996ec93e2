/// Keeps the refresh tokens that endpoints put in the place of the first ones (RFC 6749, section 6), over the end of
/// the process.
public protocol RefreshTokenStore: Sendable {
    /// The newest token that came in the place of `original`; nil when it is still the newest.
    ///
    /// - Parameter account: which client it is of at which endpoint.
    func latest(of original: String, for account: String) -> String?

    /// Keeps a token that came in the place of `original`, before anything else is asked of the endpoint.
    func keep(_ token: String, of original: String, for account: String)

    /// Takes the turn to ask with the newest token; nil while another process has it. Who lets the value go, or ends, gives
    /// the turn back.
    func turn(of original: String, for account: String) -> (any Sendable)?
}

extension RefreshTokenStore {
    /// It is always one's turn where no other process keeps its tokens.
    public func turn(of original: String, for account: String) -> (any Sendable)? { true }
}
