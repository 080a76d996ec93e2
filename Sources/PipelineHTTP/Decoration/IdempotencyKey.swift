import HTTPTypes

/// Sends the key by which a server knows that two requests are one (draft-ietf-httpapi-idempotency-key-header-07).
///
/// The draft wants a quoted string; many services take it bare or under a name of their own.
public struct IdempotencyKey: RequestDecorator {
    /// Nil for the key of the ``DecorationContext``.
    public let key: String?
    /// The name of the header.
    public let header: String
    /// True if the value is a quoted string, as the draft of the IETF has it
    /// (draft-ietf-httpapi-idempotency-key-header).
    public let isQuoted: Bool

    /// Adds a key by which the service knows repetitions; without one that of the context.
    public init(_ key: String? = nil, header: String = "Idempotency-Key", quoted: Bool = false) {
        self.key = key
        self.header = header
        self.isQuoted = quoted
    }

    public var phase: DecorationPhase { .idempotency }

    public func decorate(_ request: inout RequestDescription, in context: DecorationContext) throws(RequestFailure) {
        let value = key ?? context.key
        guard !value.isEmpty else { throw RequestFailure("there is no idempotency key for this request") }
        guard let name = HTTPField.Name(header) else {
            throw RequestFailure("\"\(header.forDisplay)\" is not a valid header name")
        }
        guard request.headers[name] == nil else { return }
        try request.setHeader(header, to: isQuoted ? "\"\(value)\"" : value)
        request.cachePolicy?.ignoredFields.insert(name)
    }
}
