import Crypto
import HTTPTypes
public import NetworkTasks

/// Answers requests with a ``CachePolicy`` from a cache where that allows it, and keeps what may be kept (RFC 9111, a
/// private cache); all other requests pass through as they are.
///
/// Only GET and HEAD whose answers go to memory take part. Requests with different credentials or header fields never share
/// an answer: many services tell tenants apart by a field that is no secret, and do not say so in `Vary`.
public struct CachingTransport: Transport {
    private let inner: any Transport
    private let cache: any ResponseCache
    private let time: @Sendable () -> Duration
    private let ids = TaskIDs()

    /// Sends through another transport what the cache can't answer; `time` is the time since 1970.
    public init(
        _ inner: any Transport, cache: any ResponseCache,
        time: @escaping @Sendable () -> Duration = DecorationContext.systemTime
    ) {
        self.inner = inner
        self.cache = cache
        self.time = time
    }

    public func turn(at url: String, _ limits: ServiceLimits) async throws(ExchangeFailure) -> ServiceTurn? {
        try await inner.turn(at: url, limits)
    }

    public func authorize(
        to url: String, by source: TokenSource, options: ExchangeOptions
    ) async throws(ExchangeFailure) {
        try await inner.authorize(to: url, by: source, options: options)
    }

    public func start(_ request: RequestDescription, options: ExchangeOptions) -> ExchangeTask {
        guard let policy = request.cachePolicy, Self.isCacheable(request, options) else {
            return inner.start(request, options: options)
        }
        return ExchangeTask.of(ids.next(), options: options) { reporting async throws(ExchangeFailure) in
            try await exchange(request, policy, reporting)
        }
    }

    private static func isCacheable(_ request: RequestDescription, _ options: ExchangeOptions) -> Bool {
        guard case .memory = options.receive, request.body.isNone else { return false }
        let own: [HTTPField.Name] = [.ifNoneMatch, .ifModifiedSince, .ifMatch, .ifUnmodifiedSince, .range]
        return [.get, .head].contains(request.method) && own.allSatisfy { request.headers[$0] == nil }
    }

    private var now: Double { time().seconds }

    private func exchange(
        _ request: RequestDescription, _ policy: CachePolicy, _ options: ExchangeOptions
    ) async throws(ExchangeFailure) -> HTTPExchangeResponse {
        let key = Self.key(of: request, policy, options.tls)
        var kept = await cache.response(for: key)
        if let found = kept, Self.variant(found.variant.names, of: request) != found.variant { kept = nil }
        if policy.mode == .cacheFirst, let kept, isFresh(kept, policy) { return kept.response(at: now) }
        do throws(ExchangeFailure) {
            let answer = try await asked(request, kept, policy, options)
            return await taken(answer, kept, request, key)
        } catch {
            guard let kept, error.reason != .cancelled, error.isRetryable, canServeStale(kept, policy) else {
                throw error
            }
            return kept.response(at: now)
        }
    }

    private func isFresh(_ answer: CachedResponse, _ policy: CachePolicy) -> Bool {
        answer.age(at: now) < (policy.maxAge?.seconds ?? answer.lifetime)
    }

    /// Returns whether an answer may be given in the place of one that did not come.
    private func canServeStale(_ answer: CachedResponse, _ policy: CachePolicy) -> Bool {
        let lifetime = policy.maxAge?.seconds ?? answer.lifetime
        if answer.age(at: now) < lifetime { return true }
        guard let grace = policy.staleIfOffline else { return policy.mode == .networkFirst }
        return answer.age(at: now) < lifetime + grace.seconds
    }

    private func asked(
        _ request: RequestDescription, _ kept: CachedResponse?, _ policy: CachePolicy, _ options: ExchangeOptions
    ) async throws(ExchangeFailure) -> HTTPExchangeResponse {
        var (request, options) = (request, options)
        request.cachePolicy = nil
        if let tag = kept?.field("ETag") {
            request.headers[.ifNoneMatch] = tag
        } else if let date = kept?.field("Last-Modified") {
            request.headers[.ifModifiedSince] = date
        }
        if policy.mode == .networkFirst, kept != nil, let timeout = policy.timeout {
            options.totalTimeout = min(timeout, options.totalTimeout ?? timeout)
        }
        return try await inner.start(request, options: options).value
    }

    /// The answer for the one who asked; what may be kept is.
    private func taken(
        _ answer: HTTPExchangeResponse, _ kept: CachedResponse?, _ request: RequestDescription, _ key: String
    ) async -> HTTPExchangeResponse {
        if answer.status == 304, var kept {
            // What is confirmed is fresh again, and has the fields that came with the confirmation.
            let fields = answer.headers.map { CachedResponse.Field(name: $0.name.rawName, value: $0.value) }
            let names = Set(fields.map { $0.name.lowercased() })
            kept.fields = kept.fields.filter { !names.contains($0.name.lowercased()) && $0.name.lowercased() != "age" }
            kept.fields += fields.filter { $0.name.lowercased() != "content-length" }
            kept.time = now
            await cache.store(kept, for: key)
            return kept.response(at: now)
        }
        if let fresh = keepable(answer, of: request) { await cache.store(fresh, for: key) }
        return answer
    }

    private func keepable(_ answer: HTTPExchangeResponse, of request: RequestDescription) -> CachedResponse? {
        let directives = CacheDirectives(answer.header("Cache-Control"))
        let names = (answer.header("Vary") ?? "").split(separator: ",").map {
            $0.filter { $0 != " " && $0 != "\t" }.lowercased()
        }
        guard [200, 203].contains(answer.status), !directives.has("no-store"), !names.contains("*") else { return nil }
        return CachedResponse(
            status: answer.status,
            fields: answer.headers.map { CachedResponse.Field(name: $0.name.rawName, value: $0.value) }
                .filter { $0.name.lowercased() != "set-cookie" },
            url: answer.url, body: answer.body, time: now, variant: Self.variant(names.sorted(), of: request))
    }

    /// Method, URL and fields, credentials too, digested: what is kept names none of them. A certificate is a credential; and
    /// what came from somebody whom one service trusts is no answer for another that trusts fewer.
    private static func key(of request: RequestDescription, _ policy: CachePolicy, _ tls: TLSOptions) -> String {
        var text = "\(request.method.rawValue) \(request.url)\n"
        for field in request.headers where !policy.ignoredFields.contains(field.name) {
            text += "\(field.name.canonicalName): \(field.value)\n"
        }
        if let source = request.tokenSource { text += source.identity.joined(separator: "\n") }
        if tls != TLSOptions() {
            let facts = [tls.ca, tls.certificate, tls.key, tls.minimumVersion?.rawValue].map { $0 ?? "" }
            text += (["tls"] + facts + tls.pinnedPublicKeys).joined(separator: "\n")
        }
        return digest(text)
    }

    private static func variant(_ names: [String], of request: RequestDescription) -> CachedResponse.Variant {
        let values = names.map { name in HTTPField.Name(name).flatMap { request.headers[$0] } ?? "" }
        return CachedResponse.Variant(names: names, digest: digest(values.joined(separator: "\n")))
    }

    private static func digest(_ text: String) -> String {
        SHA256.hash(data: Array(text.utf8)).hex
    }
}
