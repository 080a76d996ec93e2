import HTTPTypes
public import NetworkTasks

/// Puts access tokens into the requests that want one, and once a new one when a service answers 401; all other
/// requests pass through as they are. The answer to an append of which bytes went out is given back, with a new token for
/// what follows: nobody knows where the next bytes belong before the service is asked.
///
/// This is what a decorator can't do, since it never sends: ``OAuth2`` and ``SignedBearer`` only say which token a request needs.
public struct AuthorizingTransport: Transport {
    private let inner: any Transport
    private let tokens: AccessTokens
    private let ids = TaskIDs()
    private static let uploadOffset = HTTPField.Name("Upload-Offset")!

    /// Sends through another transport; tokens are fetched through it too, unless `tokens` is shared with other
    /// networks.
    public init(_ inner: any Transport, tokens: AccessTokens? = nil) {
        self.inner = inner
        self.tokens = tokens ?? AccessTokens(transport: inner)
    }

    public func turn(at url: String, _ limits: ServiceLimits) async throws(ExchangeFailure) -> ServiceTurn? {
        try await inner.turn(at: url, limits)
    }

    public func authorize(
        to url: String, by source: TokenSource, options: ExchangeOptions
    ) async throws(ExchangeFailure) {
        var options = options
        options.requestOrigin = URLParts(url)?.origin
        _ = try await tokens.token(from: source, options: options)
    }

    public func start(_ request: RequestDescription, options: ExchangeOptions) -> ExchangeTask {
        guard let source = request.tokenSource else { return inner.start(request, options: options) }
        var options = options
        options.requestOrigin = URLParts(request.url)?.origin
        return ExchangeTask.of(ids.next(), options: options) { reporting async throws(ExchangeFailure) in
            try await exchange(request, source, reporting)
        }
    }

    private func exchange(
        _ request: RequestDescription, _ source: TokenSource, _ options: ExchangeOptions
    ) async throws(ExchangeFailure) -> HTTPExchangeResponse {
        let token = try await tokens.token(from: source, options: options)
        let answer = try await send(request, token, options)
        // A refusal for the lack of a good token is definite (RFC 6750, section 3.1): nothing was done.
        guard answer.status == 401 else { return answer }
        do throws(ExchangeFailure) {
            let fresh = try await tokens.token(from: source, insteadOf: token, options: options)
            let isCut = answer.bytesSent > 0 && request.headers[Self.uploadOffset] != nil
            return fresh == token || isCut ? answer : try await send(request, fresh, options)
        } catch {
            guard case .tokenRefused = error.reason else { throw error }
            return answer
        }
    }

    private func send(
        _ request: RequestDescription, _ token: String, _ options: ExchangeOptions
    ) async throws(ExchangeFailure) -> HTTPExchangeResponse {
        var request = request
        request.tokenSource = nil
        options.onToken?(token)
        do throws(RequestFailure) {
            try request.setCredentialHeader("Authorization", to: "Bearer \(token)")
        } catch {
            throw ExchangeFailure(error)
        }
        if Task.isCancelled { throw .cancelled() }
        return try await inner.start(request, options: options).value
    }
}
