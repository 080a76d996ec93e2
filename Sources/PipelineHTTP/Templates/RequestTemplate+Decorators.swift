extension RequestTemplate {
    /// Puts a decorator around the template; what is further in wins.
    public func decorated(by decorator: any RequestDecorator) -> Decorated<Self> {
        Decorated(self, by: decorator)
    }

    /// Adds a bearer token (RFC 6750).
    public func bearer(_ token: String) -> Decorated<Self> {
        decorated(by: Bearer(token: token))
    }

    /// Adds a user and a password (RFC 7617).
    public func basic(user: String, password: String) -> Decorated<Self> {
        decorated(by: Basic(user: user, password: password))
    }

    /// Adds a key in a header or in the query.
    public func apiKey(_ place: APIKey.Place, value: String) -> Decorated<Self> {
        decorated(by: APIKey(place, value: value))
    }

    /// Wants an access token; the network's transport must be an ``AuthorizingTransport``.
    public func oauth2(_ grant: TokenGrant) -> Decorated<Self> {
        decorated(by: OAuth2(grant))
    }

    /// Lets a kept answer stand for a new one; the network's transport must be a ``CachingTransport``.
    public func cached(_ policy: CachePolicy = CachePolicy()) -> Decorated<Self> {
        decorated(by: Cache(policy))
    }

    /// Sets headers.
    public func headers(_ fields: [(name: String, value: String)]) -> Decorated<Self> {
        decorated(by: Headers(fields))
    }

    /// Appends parameters to the query.
    public func query(_ parameters: [(name: String, value: String)]) -> Decorated<Self> {
        decorated(by: Query(parameters))
    }

    /// Adds preferences (RFC 7240).
    public func prefer(_ preferences: String...) -> Decorated<Self> {
        decorated(by: Prefer(preferences))
    }

    /// Sends a key by which the server knows repetitions; nil for the key of the context.
    public func idempotent(
        _ key: String? = nil, header: String = "Idempotency-Key", quoted: Bool = false
    ) -> Decorated<Self> {
        decorated(by: IdempotencyKey(key, header: header, quoted: quoted))
    }

    /// Makes the body a form of parts (RFC 7578).
    public func multipart(_ parts: [MultipartBody.Part]) -> Decorated<Self> {
        decorated(by: Multipart(parts))
    }
}
