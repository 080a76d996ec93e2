public import NetworkTasks

/// Sends requests: builds them, hands them to a transport, converts the answers. The one place that does.
public struct Network: Sendable {
    /// The transport that sends.
    public let transport: any Transport
    /// The URL to which the path of a template is appended.
    public var baseURL: String
    /// Put around every request, outside of its own decorators; innermost first.
    public var decorators: [any RequestDecorator]
    /// The options that hold unless a template or a caller says otherwise.
    public var options: ExchangeOptions
    /// The context that decorators are given unless a caller says otherwise.
    public var context: DecorationContext
    private let taskIDs = TaskIDs()

    /// A network.
    ///
    /// - Parameters:
    ///   - baseURL: goes before the paths of templates that have no base of their own.
    ///   - decorators: go around those of each request.
    ///   - options: those of each request, which a template may adjust.
    ///   - context: what decorators read besides the request.
    public init(
        transport: any Transport,
        baseURL: String = "",
        decorators: [any RequestDecorator] = [],
        options: ExchangeOptions = ExchangeOptions(),
        context: DecorationContext = DecorationContext()
    ) {
        self.transport = transport
        self.baseURL = baseURL
        self.decorators = decorators
        self.options = options
        self.context = context
    }

    /// Carries out one exchange. An answer of any status is a value: what it means is the caller's to decide.
    ///
    /// Cancelling the Swift task that awaits ends the exchange.
    /// - Parameters:
    ///   - decorators: innermost first; the network's own come around them.
    ///   - context: nil for the network's.
    ///   - options: nil for the network's.
    public func exchange(
        _ description: RequestDescription,
        decorators: [any RequestDecorator] = [],
        context: DecorationContext? = nil,
        options: ExchangeOptions? = nil
    ) async throws(ExchangeFailure) -> HTTPExchangeResponse {
        let request = try await build(description, decorators: decorators, context: context)
        // What was called off before it began is never begun.
        guard !Task.isCancelled else { throw .cancelled() }
        var options = options ?? self.options
        if !request.isAtCredentialOrigin { options.tls.forgetIdentity() }
        options.onRequest?(request)
        return try await transport.start(request, options: options).value
    }

    /// The request as it would be sent, with all decorators applied; nothing is sent.
    public func build(
        _ description: RequestDescription,
        decorators: [any RequestDecorator] = [],
        context: DecorationContext? = nil
    ) async throws(ExchangeFailure) -> RequestDescription {
        do {
            return try await RequestBuilder().build(
                description, decorators: decorators + self.decorators, context: context ?? self.context)
        } catch {
            throw ExchangeFailure(error)
        }
    }

    /// Starts an exchange and returns its handle at once: progress, `cancel()` at any time, one value.
    ///
    /// Decorators may take their time, so that the work is a Swift task of its own. It ends with the handle's value.
    public func task(
        _ description: RequestDescription,
        decorators: [any RequestDecorator] = [],
        context: DecorationContext? = nil,
        options: ExchangeOptions? = nil
    ) -> ExchangeTask {
        ExchangeTask.of(taskIDs.next(), options: options ?? self.options) {
            reporting async throws(ExchangeFailure) in
            try await exchange(description, decorators: decorators, context: context, options: reporting)
        }
    }
}
