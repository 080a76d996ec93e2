import JSONPath
import PipelineCore
import PipelineHTTP
import Testing

@Suite("What is said of an answer")
struct JudgementTests {
    /// The failure of a poll, which is judged as every request is.
    private func failure(
        _ status: Int, _ body: String, request: String = "", headers: [String: String] = [:],
        secrets: [String: String] = [:], url: String = "http://api.test/v1"
    ) async throws -> StepFailure? {
        let service = ScriptedService()
        service.on("POST /v1/jobs", status, body, headers: headers)
        let bench = try StageBench(
            #"{ "id": "a", "kind": "compute", "service": "api", "submit": { "POST": "/jobs", \#(request) "json": {} } }"#,
            network: service.network, secrets: secrets, url: url)
        return await bench.resume().tryFailure?.failure
    }

    @Test(
        "the message of an error body is found in the usual places",
        arguments: [
            (#"{"title": "Bad", "detail": "the disk is full"}"#, "the disk is full"),
            (#"{"title": "Out of credit"}"#, "Out of credit"),
            (#"{"error": {"message": "no quota", "code": 3}}"#, "no quota"),
            (#"{"error": "plain"}"#, "plain"), (#"{"message": "hello"}"#, "hello"),
        ])
    func messages(body: String, message: String) async throws {
        let failure = try #require(try await failure(422, body))
        #expect(failure.title == "service 'api' answered 422 Unprocessable Content: \(message)")
        #expect(failure.request == "POST http://api.test/v1/jobs")
        #expect(failure.status == 422)
        #expect(failure.service == "api")
        #expect(failure.body == body)
        #expect(failure.place == "test.json:1:1")
    }

    @Test("a secret that is longer than what is shown is taken out before that is cut")
    func longSecret() async throws {
        let token = (0..<200).map { "part\($0)" }.joined(separator: ".")
        let body = "{\"error\": {\"message\": \"the token \(token) is not valid\"}}"
        let failure = try #require(try await failure(401, body, secrets: ["T": token]))
        #expect(failure.title == "service 'api' answered 401 Unauthorized: the token ‹secret:T› is not valid")
        #expect(failure.body?.contains("part1") == false)
        let service = ScriptedService()
        service.on("POST /v1/jobs", 200, #"{"id": 1}"#)
        service.on("GET /v1/jobs", 200, "{\"state\": \"run\", \"why\": \"\(token) works\"}")
        service.on("GET /v1/jobs", 200, "{\"state\": \"\(token)\", \"why\": \"\"}")
        let bench = try StageBench(
            """
            { "id": "a", "kind": "compute", "service": "api", "submit": { "POST": "/jobs", "json": {} },
              "poll": { "GET": "/jobs", "status": "$.state", "succeeded": ["done"], "running": ["run"],
                        "unknownStatus": "fail", "message": "$.why" } }
            """, network: service.network, secrets: ["T": token])
        while bench.reason?.detail == nil, await bench.resume().isWaiting {}
        #expect(bench.reason?.detail == "‹secret:T› works")
        let last = await bench.run().tryFailure?.failure
        #expect(last?.title == "service 'api' gave the job the state \"‹secret:T›\", which is in none of the lists")
    }

    @Test("or where the author says")
    func authorsMessage() async throws {
        let failure = try await failure(
            400, #"{"fault": {"why": ["a", "b"]}}"#, request: #""error": "$.fault.why[*]","#)
        #expect(failure?.title == "service 'api' answered 400 Bad Request: a; b")
    }

    @Test("bodies are cut, on one line and without control characters")
    func safeBodies() async throws {
        let failure = try #require(
            try await failure(400, "\u{1B}[31mred\r\n  next\u{202E}" + String(repeating: "x", count: 1000)))
        let body = try #require(failure.body)
        #expect(body.hasPrefix("\u{FFFD}[31mred next\u{FFFD}xxx"))
        #expect(body.hasSuffix("…"))
        #expect(body.count <= 301)
        #expect(!failure.title.unicodeScalars.contains { $0.value < 32 })
    }

    @Test("secrets that a server echoes are shown by their names")
    func redaction() async throws {
        let failure = try #require(
            try await failure(
                401, #"{"error": "the token sesame-12345 is wrong"}"#,
                request: #""query": { "k": "1" }, "headers": { "X": "${{ secrets.T }}" },"#,
                secrets: ["T": "sesame-12345"]))
        #expect(failure.title == "service 'api' answered 401 Unauthorized: the token ‹secret:T› is wrong")
        #expect(failure.body?.contains("sesame-12345") == false)
        #expect(failure.hint == "check the credentials of service 'api'")
        #expect(failure.request == "POST http://api.test/v1/jobs?…")
    }

    @Test("a 401 of a token that another stage gave says how it is had again")
    func expiredToken() async throws {
        let service = ScriptedService()
        service.on("GET /v1/x", 401)
        let bench = try StageBench(
            """
            { "id": "login", "kind": "request", "service": "api",
              "request": { "POST": "/login", "capture": { "token": "$.t" }, "once": { "resend": true } } },
            { "id": "ask", "kind": "request", "service": "api",
              "request": { "GET": "/x", "headers": { "X-Session": "${{ stages.login.token }}" } } }
            """, network: service.network, captures: ["login": ["token": "t"]])
        #expect(
            await bench.resume().tryFailure?.failure.hint
                == "what stage 'login' gave may have expired: \"renew\": \"login\" gets it again; or check the "
                + "credentials of service 'api'")
    }

    @Test("statuses that the author expects are successes")
    func expect() async throws {
        #expect(try await failure(409, "{}", request: #""expect": [200, "4xx"],"#) == nil)
        #expect(try await failure(200, "{}", request: #""expect": [201], "once": { "resend": true },"#)?.status == 200)
    }

    @Test("a rule's message is a template of the answer")
    func rule() async throws {
        let failure = try await failure(
            200, #"{"errors": [{"text": "full"}]}"#,
            request: """
                "fail": [ { "when": "response.headers['x-ok'] == null && len(response.body.errors) > 0",
                            "message": "the cluster says: ${{ response.body.errors[0].text }} (${{ response.status }})" } ],
                """)
        #expect(failure?.title == "the cluster says: full (200)")
    }

    // Such a page once ended any stage for good, whatever its status: len(null) is no number.
    @Test("a rule that can't be put to an error page says nothing; one that holds needs no message")
    func ruleAndErrorPage() async throws {
        let rule = #""fail": [ { "when": "len(response.body.errors) > 0", "message": "full" } ],"#
        let failure = try #require(try await failure(422, "<html>", request: rule))
        #expect(failure.title == "service 'api' answered 422 Unprocessable Content")
        let byStatus = #""fail": [ { "when": "response.status == 409", "message": "${{ response.body.why }}" } ],"#
        #expect(
            try await self.failure(409, "<html>", request: byStatus)?.title
                == "service 'api' gave an answer for which response.status == 409")
        let once = rule + #""once": { "key": "X-Key" },"#
        #expect(try await self.failure(200, "{}", request: once)?.title.contains("is null") == true)
    }

    @Test("a redirect that is not followed says how to follow it")
    func redirect() async throws {
        let failure = try await failure(
            308, "", request: #""once": { "resend": true },"#, headers: ["Location": "/v2/jobs"])
        #expect(failure?.title == "service 'api' answered 308 Permanent Redirect")
        #expect(failure?.hint == #"it is at http://api.test/v2/jobs: write that, or "redirects": 1 follows it"#)
    }

    /// Neither its name nor its status was told, and it was asked for until the tries were used up.
    @Test("an answer in a content coding that is not undone here is told with both, and not asked for again")
    func foreignCoding() async throws {
        let service = ScriptedService()
        service.on("GET /v1/jobs", 200, "{}", headers: ["Content-Encoding": "br"])
        let bench = try StageBench(
            #"{ "id": "a", "kind": "request", "service": "api", "request": { "GET": "/jobs" } }"#,
            network: service.network)
        let failed = try #require(await bench.resume().tryFailure)
        #expect(failed.kind == .definite)
        #expect(
            failed.failure.title
                == "service 'api' answered 200 OK in the content coding 'br', which is not undone here")
        #expect(failed.failure.status == 200)
    }

    @Test("a submit whose answers are in such a coding is unknown because of that")
    func foreignCodingOfSubmit() async throws {
        let service = ScriptedService()
        service.on("POST /v1/jobs", 200, "{}", headers: ["Content-Encoding": "br"])
        let bench = try StageBench(
            """
            { "id": "a", "kind": "request", "service": "api",
              "request": { "POST": "/jobs", "json": {}, "once": { "key": "Idempotency-Key" } } }
            """, network: service.network)
        let failed = try #require(await bench.resume().tryFailure)
        #expect(failed.kind == .answered)
        #expect(failed.openSubmit?.reason.contains("in the content coding 'br'") == true)
    }

    @Test(
        "failures without an answer say what happened and what to do",
        arguments: [
            (
                ExchangeFailure.Reason.connectionRefused, AttemptFailure.Kind.silent,
                "is the service running? check the url of service 'api'"
            ),
            (.nameNotResolved, .silent, "check the network and the url of service 'api'"),
            (
                .proxy("proxy.test:3128", .connectionRefused), .silent,
                "check http_proxy, https_proxy, all_proxy and no_proxy in the environment"
            ),
            (
                .proxy("", .refused(status: 403)), .definite,
                "check http_proxy, https_proxy, all_proxy and no_proxy in the environment"
            ),
            (
                .redirectRefused("file:///x"), .definite,
                "only http and https are followed: check the url of service 'api'"
            ),
            (.timedOut(.connect), .silent, ""),
            (.tls(.unknownAuthority), .definite, #"name its authority in "tls": { "ca": … } if you trust it"#),
            (.tls(.pinMismatch), .definite, "if the service has a new key, change \"pinnedPublicKeys\""),
            (
                .tls(.pinWithoutTLS), .definite,
                "only https has keys: check the url of service 'api', and where it redirects to"
            ),
            (
                .tls(.notSpoken), .silent,
                "does it speak http:// and not https://? check the url of service 'api'"
            ),
            (.tls(.other), .silent, ""),
            (.invalidRequest("x"), .definite, ""),
        ])
    func unanswered(reason: ExchangeFailure.Reason, kind: AttemptFailure.Kind, hint: String) async throws {
        let service = ScriptedService()
        service.on("POST /v1/jobs", fails: reason, connectionMade: false)
        let bench = try StageBench(
            #"{ "id": "a", "kind": "compute", "service": "api", "submit": { "POST": "/jobs" } }"#,
            network: service.network)
        let failed = try #require(await bench.resume().tryFailure)
        #expect(failed.kind == kind)
        #expect((failed.failure.hint ?? "") == hint)
        #expect(failed.failure.service == "api")
        #expect(failed.failure.request == "POST http://api.test/v1/jobs")
    }
}
