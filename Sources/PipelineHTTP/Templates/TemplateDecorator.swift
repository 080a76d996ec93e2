public import HTTPTypes

/// A template around another one: everything is forwarded, and the conformer overrides what it changes.
///
/// For data only; what needs the finished request (a signature, a digest, a program) is a ``RequestDecorator``.
public protocol TemplateDecorator<Base>: RequestTemplate where Output == Base.Output {
    /// The type of the template around which it stands.
    associatedtype Base: RequestTemplate
    /// The template around which it stands.
    var base: Base { get }
}

extension TemplateDecorator {
    public var method: HTTPRequest.Method { base.method }
    public var baseURL: String? { base.baseURL }
    public var path: String { base.path }
    public var query: [(name: String, value: String)] { base.query }
    public var headers: HTTPFields { base.headers }
    public var body: RequestBody { get throws(RequestFailure) { try base.body } }
    public var decorators: [any RequestDecorator] { base.decorators }
    public var expected: StatusSet { base.expected }
    public func adjust(_ options: inout ExchangeOptions) { base.adjust(&options) }
    public func convert(_ response: HTTPExchangeResponse) throws -> Base.Output { try base.convert(response) }
    public func serviceError(from response: HTTPExchangeResponse) -> (any Error)? { base.serviceError(from: response) }
}
