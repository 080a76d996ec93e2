import HTTPTypes

/// Lets a kept answer stand for a new one. It only says when; ``CachingTransport`` does it.
public struct Cache: RequestDecorator {
    private let policy: CachePolicy

    /// Lets a stored response do where the policy allows it. Needs a `CachingTransport`.
    public init(_ policy: CachePolicy = CachePolicy()) {
        self.policy = policy
    }

    /// A cache that asks the service, by ``CachePolicy/revalidating``.
    package var revalidating: Cache { Cache(policy.revalidating) }

    public var phase: DecorationPhase { .shape }

    public func decorate(_ request: inout RequestDescription, in context: DecorationContext) throws(RequestFailure) {
        guard [.get, .head].contains(request.method) else { return }
        request.cachePolicy = request.cachePolicy ?? policy
    }
}
