import JSONPath
import PipelineCore
import PipelineHTTP

extension DecoratorKind {
    /// `"cache": { "maxAge": "1h", "staleIfOffline": "7d", "mode": "cacheFirst" }`
    static let cache = DecoratorKind(
        "cache",
        "Answers GET requests from the local cache where it may; polls, look-ups, further attempts and a stage that runs "
            + "again ask the service."
    ) { roots in
        let maxAge = Field(
            "maxAge", FieldType<Setting<Duration>>.duration(roots),
            "How long an answer counts as fresh; without it what the service says.")
        let stale = Field(
            "staleIfOffline", FieldType<Setting<Duration>?>.grace(roots),
            "For how long after that an answer may be given when the service gives none; true for ever.")
        let mode = Field(
            "mode", FieldType<CachePolicy.Mode>.word("mode of the cache"), default: "cacheFirst",
            "What is asked first: networkFirst, cacheFirst, or revalidate, which asks each time.")
        let timeout = Field(
            "timeout", FieldType<Setting<Duration>>.duration(roots).warning(below: .milliseconds(1)),
            "With networkFirst: how long the service may take."
        )
        return .object([maxAge, stale, mode, timeout]) { reader in
            let maxAge = reader.optional(maxAge)
            let stale = reader.optional(stale)
            let mode = reader.value(mode, default: .cacheFirst)
            let timeout = reader.optional(timeout)
            if timeout != nil, mode != .networkFirst, let place = reader.place(of: "timeout") {
                reader.findings.report(
                    place, "'timeout' has a meaning only with \"mode\": \"networkFirst\"",
                    hint: "a request's own \"timeout\" ends it in any mode")
            }
            return DecoratorTemplate { context throws(EvaluationFailure) in
                var policy = CachePolicy(mode: mode)
                policy.maxAge = try maxAge?.value(in: context.scope)
                // For ever is a hundred years: what is added up stays finite.
                if let stale { policy.staleIfOffline = try stale?.value(in: context.scope) ?? .seconds(3_155_760_000) }
                policy.timeout = try timeout?.value(in: context.scope)
                return Cache(policy)
            }
        }
    }
}

extension FieldType where Value == Setting<Duration>? {
    /// A duration, or `true` (nil) for ever.
    fileprivate static func grace(_ roots: AllowedRoots) -> FieldType {
        let duration = FieldType<Setting<Duration>>.duration(roots)
        return FieldType(schema: ["anyOf": [["const": true], duration.schema]]) { place, findings in
            if case .bool(true) = place.node.content { return .some(nil) }
            return duration.read(place, findings).map { .some($0) }
        }
    }
}
