public import NetworkTasks

/// The handle of one exchange.
public typealias ExchangeTask = NetworkTask<HTTPExchangeResponse, ExchangeFailure>

/// Sends built requests. It never retries: it says whether a failure is worth it.
public protocol Transport: Sendable {
    /// Starts an exchange and returns at once. An answer of any status is a value.
    ///
    /// - Parameter request: as ``RequestBuilder`` returned it.
    func start(_ request: RequestDescription, options: ExchangeOptions) -> ExchangeTask

    /// Waits until a service's limits let another request to the URL begin; nil where they hold nothing back.
    ///
    /// - Throws: `cancelled` when the Swift task is, or why the transport takes no exchange.
    func turn(at url: String, _ limits: ServiceLimits) async throws(ExchangeFailure) -> ServiceTurn?

    /// Gets the token that a request to the URL will need, unless it is there: the exchange then need not wait for it.
    ///
    /// - Throws: why there is none; the request would fail with the same.
    func authorize(
        to url: String, by source: TokenSource, options: ExchangeOptions
    ) async throws(ExchangeFailure)
}

extension Transport {
    public func turn(at url: String, _ limits: ServiceLimits) async throws(ExchangeFailure) -> ServiceTurn? { nil }
    public func authorize(
        to url: String, by source: TokenSource, options: ExchangeOptions
    ) async throws(ExchangeFailure) {}
}
