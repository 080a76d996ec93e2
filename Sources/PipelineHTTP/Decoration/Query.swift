/// Adds parameters; those whose name the request has already stay as they are.
public struct Query: RequestDecorator {
    /// The parameters, not yet percent-encoded.
    public let parameters: [(name: String, value: String)]

    /// Appends parameters to the query.
    public init(_ parameters: [(name: String, value: String)]) {
        self.parameters = parameters
    }

    public var phase: DecorationPhase { .shape }

    public func decorate(_ request: inout RequestDescription, in context: DecorationContext) {
        let inner = request.parameterNames
        request.query += parameters.filter { !inner.contains(PercentEncoding.component($0.name)) }
    }
}
