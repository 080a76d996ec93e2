import HTTPTypes
import JSONPath
import PipelineCore
import PipelineHTTP
import PipelineTestKit
import Testing

@Suite("Credentials that are refused")
struct CredentialRenewalTests {
    private static let bearer = #"[ { "bearer": "${{ secrets.T }}" } ]"#

    private func bench(_ stage: String, _ service: ScriptedService, with decorators: String = bearer) throws
        -> StageBench
    {
        try StageBench(stage, network: service.network, secrets: ["T": "old"], with: decorators)
    }

    @Test("a poll that is refused goes on with the secret as it is by now", arguments: [401, 403])
    func poll(status: Int) async throws {
        let service = ScriptedService()
        service.on("GET /v1/jobs/7", status, #"{"error":"expired"}"#)
        service.on("GET /v1/jobs/7", 200, #"{"state":"done"}"#)
        let bench = try bench(
            """
            { "id": "a", "kind": "compute", "service": "api",
              "poll": { "GET": "/jobs/7", "status": "$.state", "succeeded": ["done"] } }
            """, service)
        bench.host.read { $0.renewedSecrets = ["T": "new"] }
        #expect(await bench.resume().isWaiting)
        #expect(await bench.resume().isFinished)
        #expect(service.requests.map { $0.header("Authorization") } == ["Bearer old", "Bearer new"])
    }

    @Test("a poll that is refused with the newest secret fails the stage")
    func pollForGood() async throws {
        let service = ScriptedService()
        service.on("GET /v1/jobs/7", 401, #"{"error":"expired"}"#)
        let bench = try bench(
            """
            { "id": "a", "kind": "compute", "service": "api",
              "poll": { "GET": "/jobs/7", "status": "$.state", "succeeded": ["done"] } }
            """, service)
        #expect(await bench.resume().definite == "service 'api' answered 401 Unauthorized: expired")
    }

    @Test("a submit that is refused is sent again with the secret as it is by now, and is no second one")
    func submit() async throws {
        let service = ScriptedService()
        service.on("POST /v1/jobs", 401)
        service.on("POST /v1/jobs", 201, #"{"id":7,"state":"done"}"#)
        let bench = try bench(
            """
            { "id": "a", "kind": "compute", "service": "api", "submit": { "POST": "/jobs", "capture": { "id": "$.id" } },
              "poll": { "GET": "/jobs/7", "status": "$.state", "succeeded": ["done"] } }
            """, service)
        bench.host.read { $0.renewedSecrets = ["T": "new"] }
        #expect(await bench.resume().tryFailure?.kind == .answered)
        #expect(await bench.resume().isFinished)
        #expect(bench.host.read(\.phases) == [.intent, .sending, .intent, .intent, .sending, .submitted])
    }

    @Test("a token of oauth2 is put in, concealed, and renewed once after a 401")
    func token() async throws {
        let service = ScriptedService()
        service.on("POST /token", 200, #"{"access_token":"first","expires_in":3600}"#)
        service.on("POST /token", 200, #"{"access_token":"second","expires_in":3600}"#)
        service.on("GET /v1/a", 401)
        service.on("GET /v1/a", 200, "{}")
        let network = Network(transport: AuthorizingTransport(service.network.transport))
        let bench = try StageBench(
            #"{ "id": "a", "kind": "request", "service": "api", "request": { "GET": "/a" } }"#, network: network,
            secrets: ["T": "sesame"],
            with: """
                [ { "oauth2": { "tokenURL": "http://auth.test/token", "clientID": "me",
                    "clientSecret": "${{ secrets.T }}" } } ]
                """)
        #expect(await bench.resume().isFinished)
        #expect(
            service.lines == ["POST /token", "GET /v1/a", "POST /token", "GET /v1/a"])
        #expect(service.requests[3].header("Authorization") == "Bearer second")
        #expect(bench.host.read(\.concealed) == ["first", "second"])
        // The token that was fetched, and the one after the refusal.
        #expect(bench.host.read(\.authentications) == 2)
    }

    @Test("a token of jwt is signed with a key of a file, and its claims are values")
    func signed() async throws {
        let folder = TemporaryFolder()
        try folder.write("key.txt", "sesame")
        let service = ScriptedService()
        service.on("GET /v1/a", 200, "{}")
        let network = Network(transport: AuthorizingTransport(service.network.transport))
        let bench = try StageBench(
            #"{ "id": "a", "kind": "request", "service": "api", "request": { "GET": "/a" } }"#, network: network,
            secrets: ["T": "sesame"],
            with: """
                [ { "jwt": { "algorithm": "HS256", "key": "@key.txt", "header": { "v": 1 },
                    "claims": { "iss": "${{ job.key }}", "n": [1], "iat": 1, "exp": 2 } } } ]
                """, folders: JobFolders(document: folder.path, output: folder.path))
        #expect(await bench.resume().isFinished)
        let field = try #require(service.requests.first?.header("Authorization"))
        // printf '%s.%s' HEADER CLAIMS | openssl dgst -sha256 -hmac sesame -binary | basenc --base64url
        #expect(
            field.hasPrefix(
                "Bearer eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCIsInYiOjF9.eyJpc3MiOiJrZXkxIiwibiI6WzFdLCJpYXQiOjEsImV4cCI6Mn0."
            ))
        #expect(bench.host.read(\.authentications) == 0)
    }

    @Test("a client whose secret was renewed meanwhile is worth another try")
    func clientSecret() async throws {
        let service = ScriptedService()
        service.on("POST /token", 401, #"{"error":"invalid_client"}"#)
        service.on("POST /token", 401, #"{"error":"invalid_client"}"#)
        service.on("POST /token", 200, #"{"access_token":"good"}"#)
        service.on("GET /v1/a", 200, "{}")
        let network = Network(transport: AuthorizingTransport(service.network.transport))
        let bench = try StageBench(
            #"{ "id": "a", "kind": "request", "service": "api", "request": { "GET": "/a" } }"#, network: network,
            secrets: ["T": "old"],
            with: """
                [ { "oauth2": { "tokenURL": "http://auth.test/token", "clientID": "me",
                    "clientSecret": "${{ secrets.T }}" } } ]
                """)
        bench.host.read { $0.renewedSecrets = ["T": "new"] }
        #expect(await bench.resume().tryFailure?.kind == .silent)
        #expect(await bench.resume().isFinished)
    }

    @Test("an access token never goes to an origin that an answer chose")
    func reach() async throws {
        let service = ScriptedService()
        service.on("GET /elsewhere", 200, "{}")
        let network = Network(transport: AuthorizingTransport(service.network.transport))
        let bench = try StageBench(
            """
            { "id": "first", "kind": "request", "service": "api", "request": { "GET": "/a" },
              "capture": { "url": "$.url" } },
            { "id": "a", "kind": "request", "service": "api", "request": { "GET": "${{ stages.first.url }}" } }
            """, network: network, secrets: ["T": "x"],
            captures: ["first": ["url": "http://other.test/elsewhere"]],
            with: """
                [ { "oauth2": { "tokenURL": "http://auth.test/token", "clientID": "me",
                    "clientSecret": "${{ secrets.T }}" } } ]
                """)
        #expect(await bench.resume().isFinished)
        #expect(service.lines == ["GET /elsewhere"])
    }
}
