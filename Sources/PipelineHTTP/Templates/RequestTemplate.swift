public import HTTPTypes

/// A request as one small, skimmable struct: what is common has a default, what is said is what is special.
///
/// ```swift
/// struct CreateUpload: RequestTemplate {
///     let size: Int
///     var method: HTTPRequest.Method { .post }
///     var path: String { "/uploads" }
///     typealias Output = UploadLocation
/// }
/// let location = try await network.send(CreateUpload(size: n).bearer(token))
/// ```
/// A template can't send itself: that is ``Network``'s.
public protocol RequestTemplate<Output>: Sendable {
    /// The type that the response becomes.
    associatedtype Output: Sendable

    /// GET unless said otherwise.
    var method: HTTPRequest.Method { get }
    /// The URL to which the path is appended; nil for the network's own.
    var baseURL: String? { get }
    /// Starts with a slash; or an absolute URL, which is used as it is.
    var path: String { get }
    /// Parameters that are appended to the path's own, not yet percent-encoded; none unless said otherwise.
    var query: [(name: String, value: String)] { get }
    /// Headers of the request; none unless said otherwise.
    var headers: HTTPFields { get }
    /// Made when the request is built: encoding a model can fail.
    var body: RequestBody { get throws(RequestFailure) }
    /// Innermost first.
    var decorators: [any RequestDecorator] { get }
    /// The statuses that count as success, 2xx unless said otherwise.
    var expected: StatusSet { get }

    /// Changes what the network's options say, such as a longer time-out.
    func adjust(_ options: inout ExchangeOptions)
    /// Makes the output from an answer of an expected status.
    func convert(_ response: HTTPExchangeResponse) throws -> Output
    /// Makes the back end's own error from an answer of another status; nil for a ``StatusCodeError``.
    func serviceError(from response: HTTPExchangeResponse) -> (any Error)?
}

extension RequestTemplate {
    public var method: HTTPRequest.Method { .get }
    public var baseURL: String? { nil }
    public var query: [(name: String, value: String)] { [] }
    public var headers: HTTPFields { [:] }
    public var body: RequestBody { .none }
    public var decorators: [any RequestDecorator] { [] }
    public var expected: StatusSet { .success }
    public func adjust(_ options: inout ExchangeOptions) {}
    public func serviceError(from response: HTTPExchangeResponse) -> (any Error)? { nil }

    /// The description that the decorators are applied to.
    public func description(base: String) throws(RequestFailure) -> RequestDescription {
        RequestDescription(
            method: method, url: Self.joined(baseURL ?? base, path), query: query, headers: headers, body: try body)
    }

    private static func joined(_ base: String, _ path: String) -> String {
        if URLParts(path) != nil { return path }
        return (base.hasSuffix("/") && path.hasPrefix("/") ? String(base.dropLast()) : base) + path
    }
}

extension RequestTemplate where Output: DataConvertible {
    public func convert(_ response: HTTPExchangeResponse) throws -> Output {
        try Output(body: response.body)
    }
}

extension RequestTemplate where Output: ModelArray {
    public func convert(_ response: HTTPExchangeResponse) throws -> Output {
        try Output(models: response.body)
    }
}
