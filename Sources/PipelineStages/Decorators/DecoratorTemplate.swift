public import HTTPTypes
public import PipelineCore
public import PipelineHTTP

/// A decorator of the document: read and in itself right, its values not yet put in.
public struct DecoratorTemplate: Sendable {
    /// True if it carries something that must not reach another origin than its service's.
    public var isCredential: Bool
    /// Names of header fields that it fills from secrets: a redirect to another origin loses them.
    public var credentialFields: [String]
    /// Names of parameters of the query that it fills from secrets: they stay with their origin, too.
    package var credentialParameters: [String] = []
    /// The captures that its values are made from.
    var captures: [Reference] = []
    /// True if it makes the body of a request that has none of its own; it is never left out in silence.
    package var makesBody = false
    /// Makes the decorator just before a request is sent; nil when it has nothing to do with this request.
    public let resolve: @Sendable (DecorationScope) throws(EvaluationFailure) -> (any RequestDecorator)?

    /// A decorator whose values are found for each request.
    ///
    /// - Parameters:
    ///   - isCredential: true for one that proves who sends: it does not follow to another origin.
    ///   - credentialFields: headers that it fills from secrets: a redirect to another origin loses them.
    ///   - resolve: makes the decorator just before a request; nil where this request needs none. It does no input or
    ///     output.
    public init(
        isCredential: Bool = false, credentialFields: [String] = [],
        resolve: @escaping @Sendable (DecorationScope) throws(EvaluationFailure) -> (any RequestDecorator)?
    ) {
        self.isCredential = isCredential
        self.credentialFields = credentialFields
        self.resolve = resolve
    }
}

/// The sources of a decorator's values: the values of expressions, and what is known of the request.
public struct DecorationScope: Sendable {
    /// The scope that the expressions of the decorator may read.
    public var scope: Scope
    /// The method of the request.
    public var method: HTTPRequest.Method
    /// The bytes of the part that an upload is sending; nil outside of one.
    public var part: BodySegment?

    /// Makes the scope in which a decorator is resolved; `part` is the piece of a file that the request sends.
    public init(scope: Scope, method: HTTPRequest.Method, part: BodySegment? = nil) {
        self.scope = scope
        self.method = method
        self.part = part
    }
}
