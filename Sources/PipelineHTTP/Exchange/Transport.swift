public import NetworkTasks

/// The handle of one exchange.
public typealias ExchangeTask = NetworkTask<HTTPExchangeResponse, ExchangeFailure>

/// Sends built requests. It never retries: it says whether a failure is worth it.
public protocol Transport: Sendable {
    /// Starts an exchange and returns at once. An answer of any status is a value.
    ///
    /// - Parameter request: as ``RequestBuilder`` returned it.
    func start(_ request: RequestDescription, options: ExchangeOptions) -> ExchangeTask
}
