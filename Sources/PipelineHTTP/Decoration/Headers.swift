public import HTTPTypes

/// Adds header fields; those that the request has already stay as they are.
public struct Headers: RequestDecorator {
    /// The headers, in the order in which they are set.
    public let fields: [(name: String, value: String)]

    /// Sets headers; each replaces one of its name.
    public init(_ fields: [(name: String, value: String)]) {
        self.fields = fields
    }

    /// Sets headers; each replaces one of its name.
    public init(_ fields: HTTPFields) {
        self.fields = fields.map { ($0.name.rawName, $0.value) }
    }

    public var phase: DecorationPhase { .shape }

    public func decorate(_ request: inout RequestDescription, in context: DecorationContext) throws(RequestFailure) {
        let inner = Set(request.headers.map(\.name))
        for (name, value) in fields {
            let field = try HTTPField.checked(name: name, value: value)
            if !inner.contains(field.name) { request.headers.append(field) }
        }
    }
}
