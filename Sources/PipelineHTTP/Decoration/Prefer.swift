import HTTPTypes

/// Adds preferences (RFC 7240), such as `respond-async` and `wait=10`, besides those of the request.
public struct Prefer: RequestDecorator {
    /// The preferences, as `respond-async`.
    public let preferences: [String]

    /// Adds `Prefer` (RFC 7240).
    public init(_ preferences: [String]) {
        self.preferences = preferences
    }

    public var phase: DecorationPhase { .shape }

    public func decorate(_ request: inout RequestDescription, in context: DecorationContext) throws(RequestFailure) {
        let name = "Prefer"
        let inner = HTTPField.Name(name).flatMap { request.headers[$0] }
        let all = [inner].compactMap { $0 } + preferences
        try request.setHeader(name, to: all.joined(separator: ", "))
    }
}
