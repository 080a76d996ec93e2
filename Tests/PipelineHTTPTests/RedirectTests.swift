import HTTPTypes
import NetworkTasks
import PipelineHTTP
import PipelineTestKit
import Testing

@Suite("Redirects")
struct RedirectTests {
    let network = Network(transport: CurlTransport())

    static func redirect(_ status: Int, to location: String) -> ScriptedAnswer {
        .status(status, headers: [("Location", location)], body: "moved")
    }

    @Test("GET follows relative and absolute locations; the answer tells where it came from")
    func get() async throws {
        let server = try LoopbackServer { request in
            switch request.target {
            case "/a/one": Self.redirect(302, to: "two?x=1")
            case "/a/two?x=1": Self.redirect(307, to: "/three")
            default: .status(200, body: "here")
            }
        }
        defer { server.stop() }
        let answer = try await network.exchange(RequestDescription(url: server.url + "/a/one"))
        #expect(answer.status == 200)
        #expect(answer.body == Array("here".utf8))
        #expect(answer.url == server.url + "/three")
        #expect(answer.redirects == 2)
        #expect(server.connectionCount == 1)
    }

    @Test("a POST is not redirected unless allowed: the redirect is its answer")
    func postByDefault() async throws {
        let server = try LoopbackServer { _ in Self.redirect(307, to: "/else") }
        defer { server.stop() }
        let answer = try await network.exchange(RequestDescription(method: .post, url: server.url, body: .text("x")))
        #expect(answer.status == 307)
        #expect(answer.header("Location") == "/else")
        #expect(answer.body == Array("moved".utf8))
        #expect(server.requests.count == 1)
    }

    @Test(
        "method and body after each status", arguments: [301, 302, 303, 307, 308],
        [HTTPRequest.Method.post, .put])
    func methods(status: Int, method: HTTPRequest.Method) async throws {
        let server = try LoopbackServer { $0.target == "/" ? Self.redirect(status, to: "/next") : .status(200) }
        defer { server.stop() }
        let body = RequestBody.bytes([UInt8](repeating: 1, count: 100_000))
        _ = try await network.exchange(
            RequestDescription(method: method, url: server.url, headers: [.contentType: "a/b"], body: body),
            options: ExchangeOptions(redirects: 3))
        let second = server.requests[1]
        let keeps = status >= 307 || (status < 303 && method == .put)
        #expect(second.method == (keeps ? method.rawValue : "GET"))
        #expect(second.bodyCount == (keeps ? 100_000 : 0))
        #expect(second.header("Content-Type") == (keeps ? "a/b" : nil))
    }

    /// A receiver that checks them refused the request that came without its body.
    @Test("digests of a body go with it", arguments: [303, 307])
    func digests(status: Int) async throws {
        let server = try LoopbackServer { $0.target == "/" ? Self.redirect(status, to: "/next") : .status(200) }
        defer { server.stop() }
        let names = ["Content-Digest", "Repr-Digest", "Content-MD5", "Digest", "X-Amz-Content-Sha256"]
        var request = RequestDescription(
            method: .post, url: server.url, headers: [.accept: "text/plain"], body: .text("x"))
        for name in names.dropFirst(2) { try request.setHeader(name, to: "x") }
        _ = try await network.exchange(
            request, decorators: [ContentDigest()], options: ExchangeOptions(redirects: 1))
        let (first, second) = (server.requests[0], server.requests[1])
        for name in names {
            #expect(first.header(name) != nil)
            #expect(second.header(name) == (status == 307 ? first.header(name) : nil), "\(name)")
        }
        #expect(second.header("Accept") == "text/plain")
    }

    @Test("credentials stay with their origin", arguments: [false, true])
    func credentials(keeps: Bool) async throws {
        let target = try LoopbackServer { _ in .status(200) }
        let server = try LoopbackServer { _ in Self.redirect(302, to: target.url + "/stolen") }
        defer {
            server.stop()
            target.stop()
        }
        var request = RequestDescription(url: server.url, headers: [.cookie: "session=1", .accept: "text/plain"])
        try request.setHeader("X-Api-Key", to: "k")
        for credential: any RequestDecorator in [
            Bearer(token: "t"), Basic(user: "u", password: "p"), APIKey(.header("X-Odd-Token"), value: "v"),
        ] {
            _ = try await network.exchange(
                request, decorators: [credential], options: ExchangeOptions(redirectKeepsCredentials: keeps))
        }
        for (first, second) in zip(server.requests, target.requests) {
            for name in ["Authorization", "Cookie", "X-Api-Key", "X-Odd-Token"] {
                #expect(second.header(name) == (keeps ? first.header(name) : nil))
            }
            #expect(second.header("Accept") == "text/plain")
        }
        #expect(server.requests.map { $0.header("Authorization") } == ["Bearer t", "Basic dTpw", nil])
        #expect(server.requests[2].header("X-Odd-Token") == "v")
        #expect(target.requests.count == 3)
    }

    /// It was sent on with the signature of the first URL, which no service takes.
    @Test(
        "a signed request is signed anew for where it is led, without its body too", arguments: ["execute-api", "s3"],
        [303, 307])
    func signature(service: String, status: Int) async throws {
        let server = try LoopbackServer { $0.target == "/" ? Self.redirect(status, to: "/next?b=2&a=1") : .status(200) }
        defer { server.stop() }
        let signer = AWSSignature(region: "r", service: service, accessKey: "a", secretKey: "b", sessionToken: "t")
        let context = DecorationContext(time: { .seconds(1_440_938_160) })
        var request = RequestDescription(
            method: .post, url: server.url, headers: [.contentType: "a/b"], body: .text("x"))
        _ = try await network.exchange(
            request, decorators: [signer], context: context, options: ExchangeOptions(redirects: 1))
        request.url += "/next?b=2&a=1"
        if status == 303 { request = RequestDescription(url: request.url) }
        let expected = try await RequestBuilder().build(request, decorators: [signer], context: context)
        for name in ["Authorization", "X-Amz-Date", "X-Amz-Security-Token", "X-Amz-Content-Sha256"] {
            let value = HTTPField.Name(name).flatMap { expected.headers[$0] }
            #expect(server.requests[1].header(name) == value, "\(name)")
        }
    }

    @Test("a signed request goes to another origin unsigned, or signed anew if it may", arguments: [false, true])
    func signatureElsewhere(keeps: Bool) async throws {
        let target = try LoopbackServer { $0.target == "/" ? Self.redirect(307, to: "/end") : .status(200) }
        let server = try LoopbackServer { _ in Self.redirect(307, to: target.url) }
        defer {
            server.stop()
            target.stop()
        }
        let signer = AWSSignature(region: "r", service: "s3", accessKey: "a", secretKey: "b")
        let context = DecorationContext(time: { .seconds(1_440_938_160) })
        _ = try await network.exchange(
            RequestDescription(url: server.url), decorators: [signer], context: context,
            options: ExchangeOptions(redirectKeepsCredentials: keeps))
        var expected: [String?] = []
        for path in ["/", "/end"] {
            let request = RequestDescription(url: target.url + path)
            let signed = try await RequestBuilder().build(request, decorators: [signer], context: context)
            expected.append(keeps ? signed.headers[.authorization] : nil)
        }
        #expect(target.requests.map { $0.header("Authorization") } == expected)
    }

    @Test("another name for the same address is another origin, the same one is not")
    func sameOrigin() async throws {
        let server = try LoopbackServer { request in
            switch request.target {
            case "/other":
                Self.redirect(302, to: "http://localhost:\(request.header("Host")!.split(separator: ":")[1])/end")
            case "/same": Self.redirect(302, to: "/end")
            default: .status(200)
            }
        }
        defer { server.stop() }
        for path in ["/other", "/same"] {
            _ = try await network.exchange(RequestDescription(url: server.url + path), decorators: [Bearer(token: "t")])
        }
        let ends = server.requests.filter { $0.target == "/end" }
        #expect(ends.map { $0.header("Authorization") } == [nil, "Bearer t"])
    }

    @Test("a chain that is too long, and one that leads out of HTTP")
    func limits() async throws {
        let server = try LoopbackServer { request in
            request.target == "/file" ? Self.redirect(302, to: "file:///etc/passwd") : Self.redirect(302, to: "/again")
        }
        defer { server.stop() }
        let endless = await network.task(
            RequestDescription(url: server.url), options: ExchangeOptions(redirects: 4)
        ).result
        #expect(endless.failure?.reason == .tooManyRedirects)
        #expect(server.requests.count == 5)
        let outside = await network.task(RequestDescription(url: server.url + "/file")).result
        // It was told as noise on the port.
        #expect(outside.failure?.reason == .redirectRefused("file:///etc/passwd"))
        #expect(outside.failure?.message.contains("redirected to file:///etc/passwd, which is not followed") == true)
    }

    @Test("the body of a redirect is not read for ever")
    func endlessBody() async throws {
        let server = try LoopbackServer { request in
            guard request.target != "/end" else { return .status(200) }
            let size = request.target == "/small" ? 1000 : 1 << 30
            return ScriptedAnswer([
                .readBody, .head(302, [("Location", "/end"), ("Content-Length", "\(size)")]), .filled(Int64(size)),
            ])
        }
        defer { server.stop() }
        let options = ExchangeOptions(maximumBodyBytes: 100_000)
        let large = await network.task(RequestDescription(url: server.url + "/large"), options: options).result
        #expect(large.failure?.reason == .bodyTooLarge)
        let small = await network.task(RequestDescription(url: server.url + "/small"), options: options).result
        #expect(try small.get().status == 200)
    }

    @Test("a file sink sees only the final head")
    func sink() async throws {
        let server = try LoopbackServer {
            $0.target == "/" ? Self.redirect(302, to: "/data") : .status(200, body: "data")
        }
        defer { server.stop() }
        let folder = TemporaryFolder()
        let answer = try await network.exchange(
            RequestDescription(url: server.url),
            options: ExchangeOptions(receive: .file(FileSink(path: folder.file("data")))))
        #expect(answer.redirects == 1)
        #expect(folder.bytes("data") == Array("data".utf8))
    }

    @Test("user and password in a URL become a credential and do not show in the answer")
    func userInURL() async throws {
        let server = try LoopbackServer { _ in .status(200) }
        defer { server.stop() }
        let url = "http://us%65r:pa%3As@127.0.0.1:\(server.port)/x"
        let answer = try await network.exchange(RequestDescription(url: url))
        #expect(answer.url == server.url + "/x")
        #expect(server.requests[0].header("Authorization") == "Basic dXNlcjpwYTpz")
    }
}
