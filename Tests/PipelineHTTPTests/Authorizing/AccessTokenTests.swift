import Foundation
import HTTPTypes
import PipelineHTTP
import PipelineTestKit
import Synchronization
import Testing

@Suite("Access tokens")
struct AccessTokenTests {
    private static let grant = TokenGrant(
        tokenURL: "http://auth.test/token", clientID: "me", clientSecret: "s3", scope: "read write", audience: "api")

    /// An endpoint and a service that takes the newest token alone, or none.
    private final class World: Sendable {
        struct State {
            var time = Duration.seconds(1000)
            var given = 0
            var life: String? = "100"
            /// Statuses of the endpoint's next answers that are no tokens.
            var refusals: [Int] = []
            /// The error codes in them, `invalid_client` where there are none.
            var codes: [String] = []
            /// Headers of these answers.
            var refusalHeaders: HTTPFields = [:]
            /// The pages that stand in the way of the next tokens.
            var pages: [String] = []
            var takesTokens = true
            var tokenRequests: [RequestDescription] = []
            var requests: [RequestDescription] = []
        }
        let state = Mutex(State())
        let gate = Gate()

        init(isHeld: Bool = false) { if !isHeld { gate.open() } }

        var network: Network {
            let transport = ScriptedTransport { request, _ async throws(ExchangeFailure) in
                request.url.hasPrefix("http://auth.test") ? try await self.token(request) : self.answer(request)
            }
            let tokens = AccessTokens(transport: transport, time: { self.state.withLock(\.time) })
            return Network(transport: AuthorizingTransport(transport, tokens: tokens))
        }

        private func token(_ request: RequestDescription) async throws(ExchangeFailure) -> HTTPExchangeResponse {
            state.withLock { $0.tokenRequests.append(request) }
            await gate.wait()
            return state.withLock { state in
                if !state.refusals.isEmpty {
                    let code = state.codes.isEmpty ? "invalid_client" : state.codes.removeFirst()
                    let body = #"{"error":"\#(code)","error_description":"who are you"}"#
                    return HTTPExchangeResponse(
                        status: state.refusals.removeFirst(), headers: state.refusalHeaders, body: Array(body.utf8))
                }
                if !state.pages.isEmpty {
                    return HTTPExchangeResponse(status: 200, body: Array(state.pages.removeFirst().utf8))
                }
                state.given += 1
                let life = state.life.map { ",\"expires_in\":\($0)" } ?? ""
                let body = "{\"access_token\":\"token-\(state.given)\",\"token_type\":\"Bearer\"\(life)}"
                return HTTPExchangeResponse(status: 200, body: Array(body.utf8))
            }
        }

        private func answer(_ request: RequestDescription) -> HTTPExchangeResponse {
            state.withLock { state in
                state.requests.append(request)
                let isGood = state.takesTokens && request.headers[.authorization] == "Bearer token-\(state.given)"
                return HTTPExchangeResponse(status: isGood ? 200 : 401)
            }
        }

        func send(_ grant: TokenGrant = AccessTokenTests.grant, over network: Network) async throws(ExchangeFailure)
            -> Int
        {
            let request = RequestDescription(url: "http://api.test/things")
            return try await network.exchange(request, decorators: [OAuth2(grant)]).status
        }
    }

    @Test("however many requests wait, the token is asked for once, in a form, with the client in the header")
    func once() async throws {
        // One that had just seen no token asked again when the answer came in that moment.
        for _ in 1...100 { try await askOnce() }
    }

    private func askOnce() async throws {
        let world = World(isHeld: true)
        let network = world.network
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<20 { group.addTask { try await world.send(over: network) } }
            world.gate.open()
            for try await status in group { #expect(status == 200) }
        }
        let asked = world.state.withLock(\.tokenRequests)
        #expect(asked.count == 1)
        #expect(asked[0].headers[.authorization] == "Basic bWU6czM=")
        guard case .bytes(let form) = asked[0].body else {
            Issue.record("no form")
            return
        }
        #expect(
            String(decoding: form, as: UTF8.self)
                == "grant_type=client_credentials&scope=read%20write&audience=api")
    }

    @Test("a token is renewed before it expires; while that fails the old one is used as long as it is good")
    func renewal() async throws {
        let world = World()
        let network = world.network
        #expect(try await world.send(over: network) == 200)
        world.state.withLock { $0.time += .seconds(79) }
        #expect(try await world.send(over: network) == 200)
        #expect(world.state.withLock(\.given) == 1)
        world.state.withLock { state in
            state.time += .seconds(2)
            state.refusals = [503]
        }
        #expect(try await world.send(over: network) == 200)
        #expect(world.state.withLock(\.given) == 1)
        #expect(try await world.send(over: network) == 200)
        #expect(world.state.withLock(\.given) == 2)
        world.state.withLock { state in
            state.time += .seconds(101)
            state.refusals = [503]
        }
        let failure = try await #require(throws: ExchangeFailure.self) { try await world.send(over: network) }
        #expect(failure.isRetryable && !failure.connectionMade)
        #expect(
            failure.message == "The token endpoint http://auth.test/token answered 503, invalid_client: who are you.")
    }

    /// Each item of a batch asked on its own, again and again, while the endpoint wanted to be left alone.
    @Test(
        "an endpoint that wants to be left alone is asked by nobody until then",
        arguments: [
            ["Retry-After": "20"],
            ["Retry-After": "Thu, 01 Jan 1970 00:17:00 GMT"],
            ["Retry-After": "Fri, 20 Nov 2026 12:00:20 GMT", "Date": "Fri, 20 Nov 2026 12:00:00 GMT"],
        ])
    func leftAlone(headers: [String: String]) async throws {
        let world = World(isHeld: true)
        let network = world.network
        world.state.withLock { state in
            state.refusals = [429]
            for (name, value) in headers { if let field = HTTPField.Name(name) { state.refusalHeaders[field] = value } }
        }
        let reasons = await withTaskGroup(
            of: ExchangeFailure.Reason?.self, returning: [ExchangeFailure.Reason?].self
        ) { group in
            for _ in 0..<8 {
                group.addTask {
                    do throws(ExchangeFailure) {
                        _ = try await world.send(over: network)
                        return nil
                    } catch {
                        return error.reason
                    }
                }
            }
            world.gate.open()
            var reasons: [ExchangeFailure.Reason?] = []
            for await reason in group { reasons.append(reason) }
            return reasons
        }
        #expect(reasons.allSatisfy { $0 == .tokenUnavailable(status: 429, retryAfter: .seconds(20)) }, "\(reasons)")
        world.state.withLock { $0.time += .seconds(5) }
        let later = try await #require(throws: ExchangeFailure.self) { try await world.send(over: network) }
        #expect(later.reason == .tokenUnavailable(status: 429, retryAfter: .seconds(15)) && later.isRetryable)
        #expect(later.message.hasPrefix("The token endpoint http://auth.test/token answered 429"))
        #expect(world.state.withLock(\.tokenRequests.count) == 1)
        world.state.withLock { $0.time += .seconds(15) }
        #expect(try await world.send(over: network) == 200)
        #expect(world.state.withLock(\.tokenRequests.count) == 2)
    }

    @Test("a good token is used while its endpoint wants to be left alone; a clock that is set back ends that time")
    func leftAloneWithToken() async throws {
        let world = World()
        let network = world.network
        #expect(try await world.send(over: network) == 200)
        world.state.withLock { state in
            state.time += .seconds(81)
            state.refusals = [503]
            state.refusalHeaders[.retryAfter] = "600"
        }
        for _ in 0..<3 { #expect(try await world.send(over: network) == 200) }
        #expect(world.state.withLock(\.tokenRequests.count) == 2)
        world.state.withLock { $0.time += .seconds(100) }
        await #expect(throws: ExchangeFailure.self) { try await world.send(over: network) }
        #expect(world.state.withLock(\.tokenRequests.count) == 2)
        // The old token counts as new again, but is refused.
        world.state.withLock { state in
            state.time = .seconds(500)
            state.given += 1
        }
        #expect(try await world.send(over: network) == 200)
        #expect(world.state.withLock(\.tokenRequests.count) == 3)
    }

    @Test(
        "a life that no clock holds is no life or a very long one",
        arguments: ["1e300", "\"nan\"", "\"inf\"", "-1e300"])
    func endlessLife(life: String) async throws {
        let world = World()
        world.state.withLock { $0.life = life }
        #expect(try await world.send(over: world.network) == 200)
    }

    @Test("after a 401 a new token is asked for once; a second 401 is the answer")
    func refused() async throws {
        let world = World()
        let network = world.network
        #expect(try await world.send(over: network) == 200)
        // The service forgets all tokens but the next.
        world.state.withLock { $0.given += 1 }
        #expect(try await world.send(over: network) == 200)
        #expect(world.state.withLock(\.tokenRequests.count) == 2)
        world.state.withLock { $0.takesTokens = false }
        #expect(try await world.send(over: network) == 401)
        #expect(world.state.withLock(\.tokenRequests.count) == 3)
        #expect(world.state.withLock(\.requests.count) == 5)
    }

    /// All the rest of the file was sent once more from the old offset, for a conflict.
    @Test(
        "a 401 to an append is the answer once bytes of it went out, and what follows has a new token",
        arguments: [Int64(0), 5])
    func refusedAppend(bytesSent: Int64) async throws {
        let given = Mutex(0)
        let sent = Mutex<[String]>([])
        let transport = ScriptedTransport { request, _ async throws(ExchangeFailure) in
            if request.url == "http://auth.test/token" {
                let body = given.withLock { given in
                    given += 1
                    return "{\"access_token\":\"token-\(given)\"}"
                }
                return HTTPExchangeResponse(status: 200, body: Array(body.utf8))
            }
            let token = request.headers[.authorization] ?? ""
            sent.withLock { $0.append("\(request.method.rawValue) \(token)") }
            return HTTPExchangeResponse(status: token == "Bearer token-1" ? 401 : 200, bytesSent: bytesSent)
        }
        let network = Network(transport: AuthorizingTransport(transport))
        let body = bytesSent > 0 ? "12345" : ""
        var append = RequestDescription(method: .patch, url: "http://api.test/1", body: .text(body))
        append.headers[HTTPField.Name("Upload-Offset")!] = "0"
        let status = try await network.exchange(append, decorators: [OAuth2(Self.grant)]).status
        #expect(status == (bytesSent > 0 ? 401 : 200))
        let ask = RequestDescription(method: .head, url: "http://api.test/1")
        _ = try await network.exchange(ask, decorators: [OAuth2(Self.grant)])
        let again = bytesSent > 0 ? [] : ["PATCH Bearer token-2"]
        #expect(sent.withLock { $0 } == ["PATCH Bearer token-1"] + again + ["HEAD Bearer token-2"])
    }

    @Test("an endpoint that does not take the header gets the client in the form, from then on at once")
    func form() async throws {
        let world = World()
        let network = world.network
        world.state.withLock { state in
            state.refusals = [401]
            state.life = "\"1\""
        }
        #expect(try await world.send(over: network) == 200)
        world.state.withLock { $0.time += .seconds(5) }
        #expect(try await world.send(over: network) == 200)
        let bodies = world.state.withLock(\.tokenRequests).map { request -> String in
            guard case .bytes(let bytes) = request.body else { return "" }
            return String(decoding: bytes, as: UTF8.self)
        }
        #expect(bodies.map { $0.contains("client_secret=s3") } == [false, true, true])
    }

    @Test("a client that is refused in both ways fails for good, and nothing is sent to the service")
    func wrongSecret() async throws {
        let world = World()
        world.state.withLock { $0.refusals = [401, 401] }
        let failure = try await #require(throws: ExchangeFailure.self) { try await world.send(over: world.network) }
        #expect(failure.reason == .tokenRefused(status: 401))
        #expect(!failure.isRetryable && !failure.connectionMade)
        #expect(world.state.withLock(\.requests).isEmpty)
    }

    /// It was taken for a refusal, and ended remote jobs that were waited for.
    @Test("a page in the place of a token passes, as an outage does; an answer that gives none does not")
    func page() async throws {
        let world = World()
        world.state.withLock { $0.pages = ["\r\n<html>Please log in</html>", "error=bad_code", "error=bad_code"] }
        let network = world.network
        let page = try await #require(throws: ExchangeFailure.self) { try await world.send(over: network) }
        #expect(page.reason == .tokenUnavailable(status: 200, retryAfter: nil) && page.isRetryable)
        #expect(page.message.contains("a page of HTML or XML"), "\(page.message)")
        let other = try await #require(throws: ExchangeFailure.self) { try await world.send(over: network) }
        #expect(other.reason == .tokenRefused(status: 200) && !other.isRetryable)
        #expect(try await world.send(over: network) == 200)
    }

    @Test("a refusal that calls itself passing is asked again", arguments: ["temporarily_unavailable", "server_error"])
    func passingRefusal(code: String) async throws {
        let world = World()
        // A client that is refused is tried in the other way to say who it is, too.
        world.state.withLock { ($0.refusals, $0.codes) = ([400, 400, 400], [code]) }
        let network = world.network
        let passing = try await #require(throws: ExchangeFailure.self) { try await world.send(over: network) }
        #expect(passing.reason == .tokenUnavailable(status: 400, retryAfter: nil) && passing.isRetryable)
        let final = try await #require(throws: ExchangeFailure.self) { try await world.send(over: network) }
        #expect(final.reason == .tokenRefused(status: 400) && !final.isRetryable)
    }

    @Test("one who gives up waiting takes nothing from the others")
    func givingUp() async throws {
        let world = World(isHeld: true)
        let network = world.network
        let first = Task { try await world.send(over: network) }
        while world.state.withLock(\.tokenRequests).isEmpty { await Task.yield() }
        let second = Task { try await world.send(over: network) }
        first.cancel()
        await #expect(throws: ExchangeFailure.self) { try await first.value }
        world.gate.open()
        #expect(try await second.value == 200)
    }

    @Test("a refresh token is sent as such, and replaced by the one that comes back")
    func refreshToken() async throws {
        let bodies = Mutex<[String]>([])
        let transport = ScriptedTransport { request, _ async throws(ExchangeFailure) in
            guard request.url == "http://auth.test/token", case .bytes(let form) = request.body else {
                return HTTPExchangeResponse(status: 401)
            }
            bodies.withLock { $0.append(String(decoding: form, as: UTF8.self)) }
            let count = bodies.withLock(\.count)
            let body = "{\"access_token\":\"a\(count)\",\"refresh_token\":\"r\(count)\"}"
            return HTTPExchangeResponse(status: 200, body: Array(body.utf8))
        }
        let network = Network(transport: AuthorizingTransport(transport))
        var grant = Self.grant
        (grant.scope, grant.audience, grant.refreshToken) = (nil, nil, "r0")
        let request = RequestDescription(url: "http://api.test/")
        _ = try await network.exchange(request, decorators: [OAuth2(grant)])
        #expect(
            bodies.withLock { $0 } == [
                "grant_type=refresh_token&refresh_token=r0", "grant_type=refresh_token&refresh_token=r1",
            ])
    }

    @Test("a refresh token that came back is kept, and asked for again after a restart")
    func keptRefreshToken() async throws {
        final class Store: RefreshTokenStore {
            let kept = Mutex<[String: String]>([:])
            func latest(of original: String, for account: String) -> String? {
                kept.withLock { $0[account + original] }
            }
            func keep(_ token: String, of original: String, for account: String) {
                kept.withLock { $0[account + original] = token }
            }
        }
        let bodies = Mutex<[String]>([])
        let transport = ScriptedTransport { request, _ async throws(ExchangeFailure) in
            guard request.url == "http://auth.test/token", case .bytes(let form) = request.body else {
                return HTTPExchangeResponse(status: 200)
            }
            bodies.withLock { $0.append(String(decoding: form, as: UTF8.self)) }
            let count = bodies.withLock(\.count)
            let body = "{\"access_token\":\"a\(count)\",\"refresh_token\":\"r\(count)\"}"
            return HTTPExchangeResponse(status: 200, body: Array(body.utf8))
        }
        let store = Store()
        let hidden = Mutex<[String]>([])
        let grant = TokenGrant(tokenURL: "http://auth.test/token", clientID: "me", refreshToken: "r0")
        let request = RequestDescription(url: "http://api.test/")
        for _ in 0..<2 {
            let tokens = AccessTokens(transport: transport, refreshTokens: store)
            let network = Network(transport: AuthorizingTransport(transport, tokens: tokens))
            var options = ExchangeOptions()
            options.onToken = { token in hidden.withLock { $0.append(token) } }
            _ = try await network.exchange(request, decorators: [OAuth2(grant)], options: options)
        }
        // Of the second process the kept one comes first, before it is sent.
        #expect(hidden.withLock { $0 } == ["r1", "a1", "r1", "r2", "a2"])
        #expect(
            bodies.withLock { $0 } == [
                "grant_type=refresh_token&refresh_token=r0&client_id=me",
                "grant_type=refresh_token&refresh_token=r1&client_id=me",
            ])
    }

    @Test("a refresh token that may have been sent is never called off: the one in its place is kept when nobody waits")
    func spentRefreshToken() async throws {
        final class Store: RefreshTokenStore {
            let kept = Mutex<[String]>([])
            func latest(of original: String, for account: String) -> String? { kept.withLock(\.last) }
            func keep(_ token: String, of original: String, for account: String) { kept.withLock { $0.append(token) } }
        }
        let (isAsked, gate) = (Gate(), Gate())
        let transport = ScriptedTransport { request, options async throws(ExchangeFailure) in
            guard request.url == "http://auth.test/token" else { return HTTPExchangeResponse(status: 200) }
            guard options.mayBegin?() == true else { throw .cancelled() }
            isAsked.open()
            await gate.wait()
            let body = #"{"access_token":"a","refresh_token":"r1","expires_in":3600}"#
            return HTTPExchangeResponse(status: 200, body: Array(body.utf8))
        }
        let store = Store()
        let tokens = AccessTokens(transport: transport, refreshTokens: store)
        let network = Network(transport: AuthorizingTransport(transport, tokens: tokens))
        let grant = TokenGrant(tokenURL: "http://auth.test/token", clientID: "me", refreshToken: "r0")
        let request = RequestDescription(url: "http://api.test/")
        let waiting = Task { try await network.exchange(request, decorators: [OAuth2(grant)]) }
        await isAsked.wait()
        waiting.cancel()
        await #expect(throws: ExchangeFailure.self) { try await waiting.value }
        #expect(tokens.isSpending)
        gate.open()
        await tokens.finish(within: .seconds(60))
        #expect(!tokens.isSpending)
        #expect(store.kept.withLock { $0 } == ["r1"])
        // The access token that came is as good as any.
        _ = try await network.exchange(request, decorators: [OAuth2(grant)])
        #expect(transport.requests.map(\.url) == ["http://auth.test/token", "http://api.test/"])
    }

    @Test("a refresh token that has not been sent stays where it is once nobody waits, and nothing is waited for")
    func unspentRefreshToken() async throws {
        let (isAsked, isOver) = (Gate(), Gate())
        let mayBegin = Mutex<Bool?>(nil)
        let transport = ScriptedTransport { _, options async throws(ExchangeFailure) in
            isAsked.open()
            // It goes on when it is cancelled.
            await Gate().wait()
            mayBegin.withLock { $0 = options.mayBegin?() }
            isOver.open()
            throw .cancelled()
        }
        let tokens = AccessTokens(transport: transport)
        let network = Network(transport: AuthorizingTransport(transport, tokens: tokens))
        let grant = TokenGrant(tokenURL: "http://auth.test/token", clientID: "me", refreshToken: "r0")
        let waiting = Task {
            try await network.exchange(RequestDescription(url: "http://api.test/"), decorators: [OAuth2(grant)])
        }
        await isAsked.wait()
        waiting.cancel()
        await #expect(throws: ExchangeFailure.self) { try await waiting.value }
        await isOver.wait()
        #expect(mayBegin.withLock { $0 } == false)
        #expect(!tokens.isSpending)
    }

    @Test("of two processes at once each asks with what the one before it got")
    func takingTurns() async throws {
        final class Store: RefreshTokenStore {
            final class Turn: Sendable {
                let store: Store
                init(_ store: Store) { self.store = store }
                deinit { store.isTaken.withLock { $0 = false } }
            }
            let kept = Mutex<[String: String]>([:])
            let isTaken = Mutex(false)
            func latest(of original: String, for account: String) -> String? {
                kept.withLock { $0[account + original] }
            }
            func keep(_ token: String, of original: String, for account: String) {
                kept.withLock { $0[account + original] = token }
            }
            func turn(of original: String, for account: String) -> (any Sendable)? {
                let isMine = isTaken.withLock { taken in
                    defer { taken = true }
                    return !taken
                }
                return isMine ? Turn(self) : nil
            }
        }
        let sent = Mutex<[String]>([])
        let transport = ScriptedTransport { request, _ async throws(ExchangeFailure) in
            guard request.url == "http://auth.test/token", case .bytes(let form) = request.body else {
                return HTTPExchangeResponse(status: 200)
            }
            let count = sent.withLock {
                $0.append(String(decoding: form, as: UTF8.self))
                return $0.count
            }
            for _ in 0..<100 { await Task.yield() }
            let body = "{\"access_token\":\"a\(count)\",\"refresh_token\":\"r\(count)\"}"
            return HTTPExchangeResponse(status: 200, body: Array(body.utf8))
        }
        let store = Store()
        let grant = TokenGrant(tokenURL: "http://auth.test/token", clientID: "me", refreshToken: "r0")
        try await withThrowingTaskGroup { group in
            for _ in 0..<3 {
                group.addTask {
                    let tokens = AccessTokens(transport: transport, refreshTokens: store)
                    let network = Network(transport: AuthorizingTransport(transport, tokens: tokens))
                    _ = try await network.exchange(
                        RequestDescription(url: "http://api.test/"), decorators: [OAuth2(grant)])
                }
            }
            try await group.waitForAll()
        }
        #expect(
            sent.withLock { $0 }
                == ["r0", "r1", "r2"].map { "grant_type=refresh_token&refresh_token=\($0)&client_id=me" })
    }

    @Test("an assertion is signed here for the endpoint, each of its own, and says who asks")
    func assertion() async throws {
        let bodies = Mutex<[String]>([])
        let transport = ScriptedTransport { request, _ async throws(ExchangeFailure) in
            guard request.url == "http://auth.test/token", case .bytes(let form) = request.body else {
                return HTTPExchangeResponse(status: 200)
            }
            #expect(request.headers[.authorization] == nil)
            bodies.withLock { $0.append(String(decoding: form, as: UTF8.self)) }
            return HTTPExchangeResponse(status: 200, body: Array(#"{"access_token":"a","expires_in":3600}"#.utf8))
        }
        let token = SignedToken(
            algorithm: .hs256, key: .text("k"), claims: [.init(name: "iss", json: #""robot""#)])
        let grant = TokenGrant(tokenURL: "http://auth.test/token", scope: "read", assertion: token)
        let tokens = AccessTokens(transport: transport, time: { .seconds(1000) })
        let network = Network(transport: AuthorizingTransport(transport, tokens: tokens))
        let hidden = Mutex<[String]>([])
        var options = ExchangeOptions()
        options.onToken = { token in hidden.withLock { $0.append(token) } }
        for _ in 0..<3 {
            _ = try await network.exchange(
                RequestDescription(url: "http://api.test/"), decorators: [OAuth2(grant)], options: options)
        }
        #expect(bodies.withLock { $0 }.count == 1)
        let form = bodies.withLock { $0[0] }.split(separator: "&")
        #expect(hidden.withLock { $0.first.map { "assertion=\($0)" } } == String(form[1]))
        #expect(form[0] == "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer")
        #expect(form[2] == "scope=read")
        var claims = String(form[1].split(separator: ".")[1])
        while claims.utf8.count % 4 != 0 { claims += "=" }
        let text = String(decoding: try #require(Data(base64Encoded: claims)), as: UTF8.self)
        #expect(
            text.hasPrefix(#"{"iss":"robot","aud":"http:\/\/auth.test\/token","iat":1000,"exp":1900,"jti":""#)
                || text.hasPrefix(#"{"iss":"robot","aud":"http://auth.test/token","iat":1000,"exp":1900,"jti":""#))
    }

    @Test("the token reaches the one who hides it before it is sent")
    func hidden() async throws {
        let world = World()
        let tokens = Mutex<[String]>([])
        var options = ExchangeOptions()
        options.onToken = { token in tokens.withLock { $0.append(token) } }
        _ = try await world.network.exchange(
            RequestDescription(url: "http://api.test/things"), decorators: [OAuth2(Self.grant)], options: options)
        #expect(tokens.withLock { $0 } == ["token-1"])
    }
}
