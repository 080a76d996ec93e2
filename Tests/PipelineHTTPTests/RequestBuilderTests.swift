import HTTPTypes
import PipelineHTTP
import PipelineTestKit
import Testing

@Suite("Building requests")
struct RequestBuilderTests {
    let context = DecorationContext(key: "key-1", randomBytes: { Array(repeating: 0xab, count: $0) })

    func build(
        _ description: RequestDescription, _ decorators: [any RequestDecorator] = []
    ) async throws -> RequestDescription {
        try await RequestBuilder().build(description, decorators: decorators, context: context)
    }

    @Test("decorators apply by phase, inside a phase from the innermost out")
    func order() async throws {
        let decorators: [any RequestDecorator] = [
            Mark("a", .signature), Mark("b", .shape), Mark("c", .credentials), Mark("d", .shape), Mark("e", .digest),
            Mark("f", .idempotency), Mark("g", .compression), Mark("h", .signature),
        ]
        let built = try await build(RequestDescription(url: "http://h/"), decorators)
        #expect(built.headers[values: HTTPField.Name("X-Mark")!] == ["b", "d", "g", "e", "f", "c", "a", "h"])
    }

    @Test("what is further in wins; an outer decorator only adds")
    func innerWins() async throws {
        let request = RequestDescription(
            url: "http://h/p?own=1&x%20y=2", query: [("page", "1")], headers: [.accept: "a/a", .userAgent: "me"])
        let built = try await build(
            request,
            [
                Headers([("Accept", "b/b"), ("X-One", "1"), ("X-One", "2")]),
                Headers([("X-One", "3"), ("X-Two", "2")]),
                Query([("page", "9"), ("own", "9"), ("x y", "9"), ("limit", "5")]), Query([("limit", "6")]),
                Prefer(["respond-async"]), Prefer(["wait=10"]), Bearer(token: "inner"), Basic(user: "u", password: "p"),
                APIKey(.query("key"), value: "k"), IdempotencyKey("k1", quoted: true), IdempotencyKey("k2"),
            ])
        #expect(built.url == "http://h/p?own=1&x%20y=2&page=1&limit=5")
        let fields = built.headers.map { "\($0.name.rawName): \($0.value)" }
        #expect(
            fields == [
                "Accept: a/a", "User-Agent: me", "X-One: 1", "X-One: 2", "X-Two: 2", "Prefer: respond-async, wait=10",
                "Idempotency-Key: \"k1\"", "Authorization: Bearer inner",
            ])
    }

    @Test("an API key in the query is not sent twice, when a link brings it already")
    func keyInLink() async throws {
        let key = APIKey(.query("api key"), value: "k")
        for (url, sent) in [
            ("http://h/?page=2", "http://h/?page=2&api%20key=k"),
            ("http://h/?api%20key=k&page=2", "http://h/?api%20key=k&page=2"),
            ("http://h/?api%20keys=1", "http://h/?api%20keys=1&api%20key=k"),
        ] {
            #expect(try await build(RequestDescription(url: url), [key]).url == sent)
        }
        let own = RequestDescription(url: "http://h/", query: [("api key", "own")])
        #expect(try await build(own, [key]).url == "http://h/?api%20key=own")
    }

    @Test("a request's own Authorization is its innermost credential")
    func ownCredential() async throws {
        let request = RequestDescription(url: "http://h/", headers: [.authorization: "Custom x"])
        let built = try await build(request, [Bearer(token: "t")])
        #expect(built.headers[.authorization] == "Custom x")
    }

    @Test(
        "credentials as they go out",
        arguments: [
            ("", "", "Basic Og=="), ("a", "b", "Basic YTpi"),
            ("Aladdin", "open sesame", "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="),
            ("test", "123£", "Basic dGVzdDoxMjPCow=="),
        ])
    func basic(user: String, password: String, expected: String) async throws {
        let built = try await build(RequestDescription(url: "http://h/"), [Basic(user: user, password: password)])
        #expect(built.headers[.authorization] == expected)
    }

    @Test("queries are encoded, what is in the URL already stays")
    func query() async throws {
        let request = RequestDescription(
            url: "HTTP://h:8080?a=1#fragment", query: [("uploads", ""), ("q", "a&b=c/ü +%"), ("~-._", "A9")])
        let built = try await build(request)
        #expect(built.url == "http://h:8080/?a=1&uploads=&q=a%26b%3Dc%2F%C3%BC%20%2B%25&~-._=A9")
        #expect(built.query.isEmpty)
        #expect(try await build(RequestDescription(url: "http://h/ü%20x")).url == "http://h/%C3%BC%20x")
    }

    @Test("the idempotency key is the context's, under the name that the service wants")
    func idempotency() async throws {
        let built = try await build(RequestDescription(url: "http://h/"), [IdempotencyKey(header: "PayPal-Request-Id")])
        #expect(built.headers[HTTPField.Name("PayPal-Request-Id")!] == "key-1")
        await #expect(throws: RequestFailure.self) {
            try await RequestBuilder().build(
                RequestDescription(url: "http://h/"), decorators: [IdempotencyKey()], context: DecorationContext())
        }
    }

    @Test("a multipart decorator makes the body, unless there is one")
    func multipart() async throws {
        let built = try await build(
            RequestDescription(method: .post, url: "http://h/"), [Multipart([.field("a", "1")])])
        let boundary = context.boundary
        #expect(built.headers[.contentType] == "multipart/form-data; boundary=\(boundary)")
        #expect(
            built.body.segments.map(\.length) == [
                Int64("--\(boundary)\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n".utf8.count), 1,
                Int64("\r\n--\(boundary)--\r\n".utf8.count),
            ])
        let own = try await build(
            RequestDescription(method: .post, url: "http://h/", body: .text("mine")), [Multipart([.field("a", "1")])])
        #expect(own.body.segments == [.bytes(Array("mine".utf8))])
    }

    /// Each attempt had a random one: a service that compares what comes again under a key refused the second.
    @Test("the boundary of a form is the same for all attempts under one key, and random without")
    func boundary() {
        var (again, other) = (DecorationContext(key: "key-1", attempt: 2), DecorationContext(key: "key-2"))
        #expect(again.boundary == context.boundary && other.boundary != context.boundary)
        #expect(again.boundary.hasPrefix("pipeline-") && again.boundary.utf8.count == 41)
        // Who knows the key does not know the boundary.
        again.boundarySalt = { "secret" }
        #expect(again.boundary != context.boundary)
        other.key = ""
        #expect(other.boundary != other.boundary)
    }

    @Test("fields that the transport sets itself")
    func transportFields() async throws {
        let built = try await build(
            RequestDescription(url: "http://h/", headers: [.contentLength: "5", .accept: "x"]))
        #expect(built.headers[.contentLength] == nil)
        await #expect(throws: RequestFailure.self) {
            try await build(RequestDescription(url: "http://h/", headers: [.transferEncoding: "chunked"]))
        }
        await #expect(throws: RequestFailure.self) {
            try await build(
                RequestDescription(url: "http://h/", body: .multipart(MultipartBody(boundary: "a b", parts: []))))
        }
    }

    @Test(
        "origins",
        arguments: [
            ("http://h/", "http://h:80"), ("https://H/x", "https://h:443"), ("http://u:p@h:81/", "http://h:81"),
            ("http://[::1]/", "http://[::1]:80"), ("http://[::1]:8080?x", "http://[::1]:8080"),
            ("https://h:443", "https://h:443"), ("http://u:p@\u{301}h/", "http://\u{301}h:80"),
        ])
    func origins(url: String, origin: String) {
        #expect(URLParts(url)?.origin == origin)
    }
}

/// Appends its name to a field.
struct Mark: RequestDecorator {
    let name: String
    let phase: DecorationPhase

    init(_ name: String, _ phase: DecorationPhase) {
        self.name = name
        self.phase = phase
    }

    func decorate(_ request: inout RequestDescription, in context: DecorationContext) throws(RequestFailure) {
        try request.addHeader("X-Mark", name)
    }
}
