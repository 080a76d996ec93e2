import HTTPTypes
import PipelineHTTP
import PipelineTestKit
import Synchronization
import Testing

@Suite("The response cache")
struct CachingTests {
    private final class MemoryCache: ResponseCache {
        let kept = Mutex<[String: CachedResponse]>([:])
        func response(for key: String) async -> CachedResponse? { kept.withLock { $0[key] } }
        func store(_ response: CachedResponse, for key: String) async { kept.withLock { $0[key] = response } }
    }

    private final class World: Sendable {
        struct State {
            var time = Duration.seconds(1_800_000_000)
            var count = 0
            var headers: HTTPFields = [.eTag: "\"v1\""]
            var isOffline = false
            var requests: [RequestDescription] = []
            var timeouts: [Duration?] = []
        }
        let state = Mutex(State())
        let cache = MemoryCache()

        var network: Network {
            let transport = ScriptedTransport { request, options async throws(ExchangeFailure) in
                try self.state.withLock { state throws(ExchangeFailure) in
                    state.requests.append(request)
                    state.timeouts.append(options.totalTimeout)
                    if state.isOffline { throw ExchangeFailure(.nameNotResolved, message: "Offline.") }
                    if let tag = request.headers[.ifNoneMatch], tag == state.headers[.eTag] {
                        return HTTPExchangeResponse(status: 304, headers: state.headers, url: request.url)
                    }
                    state.count += 1
                    let body = Array("answer \(state.count)".utf8)
                    return HTTPExchangeResponse(status: 200, headers: state.headers, body: body, url: request.url)
                }
            }
            return Network(
                transport: CachingTransport(transport, cache: cache, time: { self.state.withLock(\.time) }))
        }

        var count: Int { state.withLock(\.requests.count) }

        func get(
            _ policy: CachePolicy, url: String = "http://api.test/things", token: String? = nil,
            headers: HTTPFields = [:]
        ) async throws(ExchangeFailure) -> String {
            let request = RequestDescription(url: url, headers: headers)
            let credentials: [any RequestDecorator] = token.map { [Bearer(token: $0)] } ?? []
            let answer = try await network.exchange(request, decorators: credentials + [Cache(policy)])
            return String(decoding: answer.body, as: UTF8.self)
        }

        func pass(_ seconds: Int) { state.withLock { $0.time += .seconds(seconds) } }
    }

    @Test("a fresh answer is given without asking; later it is asked for by its tag and confirmed")
    func cacheFirst() async throws {
        let world = World()
        let policy = CachePolicy(maxAge: .seconds(60))
        #expect(try await world.get(policy) == "answer 1")
        world.pass(59)
        #expect(try await world.get(policy) == "answer 1")
        #expect(world.count == 1)
        world.pass(2)
        #expect(try await world.get(policy) == "answer 1")
        #expect(world.state.withLock { $0.requests.last?.headers[.ifNoneMatch] } == "\"v1\"")
        world.pass(30)
        #expect(try await world.get(policy) == "answer 1")
        #expect(world.count == 2, "the confirmation made it fresh again")
    }

    @Test(
        "an age that no clock holds is shown as a number",
        arguments: ["1e300", "nan", "inf", "99999999999999999999", "-5"])
    func endlessAge(age: String) async throws {
        let world = World()
        world.state.withLock { state in
            state.headers[.age] = age
            state.headers[.cacheControl] = "max-age=1e308"
        }
        #expect(try await world.get(CachePolicy(mode: .revalidate)) == "answer 1")
        #expect(try await world.get(CachePolicy(mode: .revalidate)) == "answer 1")
        #expect(try await world.get(CachePolicy()).hasPrefix("answer"))
    }

    @Test("without maxAge the service's own word counts, and no-store is never kept")
    func ownWord() async throws {
        let world = World()
        world.state.withLock { $0.headers[.cacheControl] = "max-age=10" }
        _ = try await world.get(CachePolicy())
        world.pass(9)
        _ = try await world.get(CachePolicy())
        #expect(world.count == 1)
        world.state.withLock { $0.headers = [.cacheControl: "no-store, max-age=1000"] }
        _ = try await world.get(CachePolicy(), url: "http://api.test/other")
        _ = try await world.get(CachePolicy(maxAge: .seconds(100)), url: "http://api.test/other")
        #expect(world.count == 3)
    }

    @Test("an answer that is no longer fresh stands in while the service is away, as long as the author allows")
    func offline() async throws {
        let world = World()
        let policy = CachePolicy(maxAge: .seconds(10), staleIfOffline: .seconds(100))
        _ = try await world.get(policy)
        world.state.withLock { $0.isOffline = true }
        world.pass(50)
        #expect(try await world.get(policy) == "answer 1")
        await #expect(throws: ExchangeFailure.self) { try await world.get(CachePolicy(maxAge: .seconds(10))) }
        world.pass(100)
        await #expect(throws: ExchangeFailure.self) { try await world.get(policy) }
    }

    @Test("networkFirst asks, within its time-out, and falls back to what is kept")
    func networkFirst() async throws {
        let world = World()
        let policy = CachePolicy(mode: .networkFirst, timeout: .seconds(2))
        _ = try await world.get(policy)
        world.state.withLock { $0.headers[.eTag] = "\"v2\"" }
        #expect(try await world.get(policy) == "answer 2")
        #expect(world.state.withLock(\.timeouts) == [nil, .seconds(2)], "nothing to fall back to: no hurry")
        world.state.withLock { $0.isOffline = true }
        world.pass(1_000_000)
        #expect(try await world.get(policy) == "answer 2")
    }

    @Test("revalidate asks each time")
    func revalidate() async throws {
        let world = World()
        let policy = CachePolicy(mode: .revalidate, maxAge: .seconds(1000))
        for _ in 0..<3 { #expect(try await world.get(policy) == "answer 1") }
        #expect(world.count == 3)
    }

    @Test("one to whom a fresh answer is of no use asks the service, and is not given that answer when it is away")
    func revalidating() async throws {
        let world = World()
        let policy = CachePolicy(maxAge: .seconds(1000))
        _ = try await world.get(policy)
        world.state.withLock { $0.headers[.eTag] = "\"v2\"" }
        #expect(try await world.get(policy) == "answer 1")
        #expect(try await world.get(policy.revalidating) == "answer 2")
        #expect(try await world.get(policy) == "answer 2", "the new one is kept")
        world.state.withLock { $0.isOffline = true }
        await #expect(throws: ExchangeFailure.self) { try await world.get(policy.revalidating) }
        let patient = CachePolicy(maxAge: .seconds(10), staleIfOffline: .seconds(100))
        #expect(try await world.get(patient.revalidating) == "answer 2")
    }

    @Test("other credentials and other variants have answers of their own")
    func apart() async throws {
        let world = World()
        let policy = CachePolicy(maxAge: .seconds(1000))
        world.state.withLock { $0.headers[.vary] = "Accept-Language" }
        #expect(try await world.get(policy, token: "a", headers: [.acceptLanguage: "de"]) == "answer 1")
        #expect(try await world.get(policy, token: "b", headers: [.acceptLanguage: "de"]) == "answer 2")
        #expect(try await world.get(policy, token: "a", headers: [.acceptLanguage: "de"]) == "answer 1")
        #expect(try await world.get(policy, token: "a", headers: [.acceptLanguage: "en"]) == "answer 3")
        for answer in world.cache.kept.withLock({ $0 }).values {
            #expect(!"\(answer)".contains("Bearer"), "no credentials are kept")
        }
    }

    /// One tenant got the data of another: the service named the field in no `Vary`.
    @Test("who writes other fields has answers of its own; a key and a trace that differ each time change nothing")
    func fields() async throws {
        let world = World()
        let cache = Cache(CachePolicy(maxAge: .seconds(1000)))
        func get(_ tenant: String, _ number: Int) async throws -> String {
            let request = RequestDescription(
                url: "http://api.test/who", headers: [.traceparent: "00-\(number)", .accept: "application/json"])
            let answer = try await world.network.exchange(
                request,
                decorators: [
                    IdempotencyKey("key \(number)", header: "X-Key"), cache, Headers([("X-Tenant", tenant)]),
                ])
            return String(decoding: answer.body, as: UTF8.self)
        }
        #expect(try await get("alice", 1) == "answer 1")
        #expect(try await get("bob", 2) == "answer 2")
        #expect(try await get("alice", 3) == "answer 1")
        let key = HTTPField.Name("X-Key")!
        #expect(world.state.withLock { state in state.requests.map { $0.headers[key] } } == ["key 1", "key 2"])
    }

    @Test("an answer is for those who trust the same and show the same certificate")
    func trust() async throws {
        let world = World()
        let cache = Cache(CachePolicy(maxAge: .seconds(1000)))
        let pinned = TLSOptions(ca: "/a.pem", pinnedPublicKeys: ["sha256//x"])
        let known = TLSOptions(certificate: "/me.pem", key: "/me.key")
        for (tls, expected) in [(TLSOptions(), 1), (pinned, 2), (known, 3), (TLSOptions(), 1), (pinned, 2), (known, 3)]
        {
            let answer = try await world.network.exchange(
                RequestDescription(url: "https://api.test/a"), decorators: [cache], options: ExchangeOptions(tls: tls))
            #expect(answer.body == Array("answer \(expected)".utf8))
        }
    }

    @Test("a request that changes something, or brings its own condition, passes by")
    func passing() async throws {
        let world = World()
        let cache = Cache(CachePolicy(maxAge: .seconds(1000)))
        for _ in 0..<2 {
            _ = try await world.network.exchange(
                RequestDescription(method: .post, url: "http://api.test/a"), decorators: [cache])
            _ = try await world.network.exchange(
                RequestDescription(url: "http://api.test/b", headers: [.range: "bytes=0-1"]), decorators: [cache])
        }
        #expect(world.count == 4)
    }
}
