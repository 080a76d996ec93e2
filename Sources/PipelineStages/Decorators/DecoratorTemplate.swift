public import HTTPTypes
public import PipelineCore
public import PipelineHTTP

/// A decorator of the document: read and in itself right, its values not yet put in.
public struct DecoratorTemplate: Sendable {
    /// Whether it carries something that must not reach another origin than its service's.
    public var isCredential: Bool
    /// Names of header fields that it fills from secrets: a redirect to another origin loses them.
    public var credentialFields: [String]
    /// Makes the decorator just before a request is sent; nil when it has nothing to do with this request.
    public let resolve: @Sendable (DecorationScope) throws(EvaluationFailure) -> (any RequestDecorator)?

    public init(
        isCredential: Bool = false, credentialFields: [String] = [],
        resolve: @escaping @Sendable (DecorationScope) throws(EvaluationFailure) -> (any RequestDecorator)?
    ) {
        self.isCredential = isCredential
        self.credentialFields = credentialFields
        self.resolve = resolve
    }
}

/// What a decorator's values are made from: the values of expressions, and what is known of the request.
public struct DecorationScope: Sendable {
    public var scope: Scope
    public var method: HTTPRequest.Method
    /// The bytes of the part that an upload is sending; nil outside of one.
    public var part: BodySegment?

    public init(scope: Scope, method: HTTPRequest.Method, part: BodySegment? = nil) {
        self.scope = scope
        self.method = method
        self.part = part
    }
}
