import HTTPTypes

/// The rule by which a cached response may be served for a new one.
public struct CachePolicy: Sendable, Hashable {
    /// The choice whether the network or the cache is asked first.
    public enum Mode: String, Sendable, Hashable, CaseIterable {
        /// A fresh answer is given without asking; any other is asked for again, by its validator.
        case cacheFirst
        /// The service is asked; when it gives no answer, in time, the kept one is given.
        case networkFirst
        /// The service is asked each time whether the kept answer is still the one (RFC 9110, section 13.1.2).
        case revalidate
    }

    /// The one that is asked first, the cache or the network.
    public var mode: Mode
    /// The time for which an answer counts as fresh; nil for what the service says of it.
    public var maxAge: Duration?
    /// For how long after it was fresh an answer may be given when the service gives none. With `networkFirst` nil is
    /// for ever, else nil is never.
    public var staleIfOffline: Duration?
    /// With `networkFirst`: how long the service may take.
    public var timeout: Duration?
    /// Fields that differ for each request and change nothing in its response: it is not told apart by them.
    var ignoredFields: Set<HTTPField.Name> = [.traceparent]

    /// Makes a rule by which a cached response may be served; without limits for those that are nil.
    public init(
        mode: Mode = .cacheFirst, maxAge: Duration? = nil, staleIfOffline: Duration? = nil, timeout: Duration? = nil
    ) {
        self.mode = mode
        self.maxAge = maxAge
        self.staleIfOffline = staleIfOffline
        self.timeout = timeout
    }

    /// The rule for a request to which the stored response is of no use, though it is fresh: the service is asked. When it
    /// gives no response the stored one counts as no longer fresh.
    package var revalidating: CachePolicy {
        guard mode != .networkFirst else { return self }
        var policy = self
        policy.mode = .revalidate
        policy.maxAge = Duration.zero
        return policy
    }
}
