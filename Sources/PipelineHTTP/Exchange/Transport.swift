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
}

extension Transport {
    public func turn(at url: String, _ limits: ServiceLimits) async throws(ExchangeFailure) -> ServiceTurn? { nil }
}
