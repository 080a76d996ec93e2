public import HTTPTypes

/// A request that is to be sent: the value that decorators, also programs, take and give.
///
/// Nothing here is bound to a connection. ``RequestBuilder`` turns a description with its decorators into one that a
/// ``Transport`` accepts.
public struct RequestDescription: Sendable {
    /// The method.
    public var method: HTTPRequest.Method
    /// An absolute `http` or `https` URL. It may carry a query; a fragment is dropped.
    public var url: String
    /// Parameters that the builder percent-encodes and appends to the URL's own query, in this order.
    public var query: [(name: String, value: String)]
    /// Header fields. `Content-Length` and `Transfer-Encoding` are the transport's and are refused here.
    public var headers: HTTPFields
    /// The body.
    public var body: RequestBody
    /// Names of the fields that hold credentials: they never follow a redirect to another origin.
    ///
    /// `Authorization`, `Cookie`, `Proxy-Authorization` and the usual API key fields count without standing here.
    public var credentialFields: Set<HTTPField.Name>
    /// Names of the parameters of the query that hold credentials.
    package var credentialParameters: Set<String> = []
    /// The origin that the credentials belong to; nil for any. A request that a decorator leads to another one leaves
    /// them behind.
    package var credentialOrigin: String?
    /// True if the body is made from a secret: it follows no redirect to another origin.
    package var bodyHoldsSecret = false
    /// The source of the bearer token that is put in before the request is sent; nil for requests that need none.
    public var tokenSource: TokenSource?
    /// The rule by which a cached response may be served for a new one; nil for never.
    public var cachePolicy: CachePolicy?
    /// The state of its credentials besides their fields.
    var credentials = CredentialState()

    /// A request without decorations; `url` may have a query, which `query` is added to.
    public init(
        method: HTTPRequest.Method = .get,
        url: String,
        query: [(name: String, value: String)] = [],
        headers: HTTPFields = [:],
        body: RequestBody = .none,
        credentialFields: Set<HTTPField.Name> = []
    ) {
        self.method = method
        self.url = url
        self.query = query
        self.headers = headers
        self.body = body
        self.credentialFields = credentialFields
    }

    /// Says whether the caller is the innermost credential; afterwards every other caller hears no.
    ///
    /// An `Authorization` field that the request itself brings counts as its innermost credential. A request that leads
    /// to another origin than that of its credentials gets none.
    public mutating func claimCredentials() -> Bool {
        guard isAtCredentialOrigin else { return false }
        defer { credentials.areClaimed = true }
        return !hasCredentials && headers[.authorization] == nil
    }
}
