import JSONPath
import PipelineCore
import PipelineHTTP
import Synchronization
import Testing

/// A batch whose items log in had as many remote jobs at once as it had tokens, and each item its own "not now".
@Suite("The account by which remote jobs are counted, and a service is closed")
struct ServiceAccountTests {
    /// Keeps at which services places were asked for, and requests admitted.
    private final class Gate: ServiceGate {
        let claimed = Mutex<[ServiceID]>([])
        let admitted = Mutex<[ServiceID]>([])

        func admit(_ service: ServiceID) async -> ServiceAdmission {
            admitted.withLock { $0.append(service) }
            return .open
        }

        func record(
            _ answer: ServiceAnswer, of service: ServiceID, named name: String, isTrial: Bool
        ) async -> Duration? { nil }

        func claimComputation(
            at service: ServiceID, for step: StepKey, of job: JobID, limit: Int
        ) async -> Timestamp? {
            claimed.withLock { $0.append(service) }
            return nil
        }
    }

    /// Returns at which service a job is counted that was given a token and a secret.
    private func service(
        _ credentials: String, inRequest: Bool = false, token: String, secret: String = "s"
    ) async throws -> ServiceID {
        let service = ScriptedService()
        service.on("POST /v1/jobs", 200, #"{"id": "7"}"#)
        let bench = try StageBench(
            """
            { "id": "login", "kind": "request", "service": "api", "request": { "POST": "/login" },
              "capture": { "token": { "select": "$.token", "secret": true }, "number": "$.number" } },
            { "id": "model", "kind": "compute", "service": "api", \(inRequest ? "" : credentials + ",")
              "submit": { "POST": "/jobs", \(inRequest ? credentials + "," : "") "once": { "resend": true },
                          "capture": { "id": "$.id" } },
              "poll": { "GET": "/jobs/${{ self.id }}", "status": "$.state", "succeeded": ["done"] } }
            """, network: service.network, secrets: ["KEY": secret],
            captures: ["login": ["token": .string(token), "number": 3]], limits: #"{ "computations": 2 }"#)
        let gate = Gate()
        bench.host.read { $0.services = gate }
        #expect(await bench.resume().isWaiting)
        #expect(service.requests.contains { ($0.header("Authorization") ?? "").contains(token) })
        let claimed = gate.claimed.withLock { $0 }
        #expect(claimed.count == 1 && gate.admitted.withLock { $0 } == claimed)
        return try #require(claimed.first)
    }

    @Test(
        "is the same for every token that a login gives",
        arguments: [
            (#""with": [ { "bearer": "${{ stages.login.token }}" } ]"#, false),
            (#""with": [ { "headers": { "Authorization": "Token ${{ stages.login.token }}" } } ]"#, false),
            (#""headers": { "Authorization": "Bearer ${{ stages.login.token }}" }"#, true),
        ])
    func login(credentials: String, inRequest: Bool) async throws {
        let first = try await service(credentials, inRequest: inRequest, token: "t1")
        #expect(try await service(credentials, inRequest: inRequest, token: "t2") == first)
        let other = credentials.replacing("stages.login.token", with: "secrets.KEY")
        #expect(try await service(other, inRequest: inRequest, token: "t1", secret: "t1") != first)
    }

    @Test("is another one for another secret, also next to a token")
    func secrets() async throws {
        let key = #""with": [ { "bearer": "${{ secrets.KEY }}" } ]"#
        let first = try await service(key, token: "t1", secret: "t1")
        #expect(try await service(key, token: "t2", secret: "t2") != first)
        let both = #""with": [ { "bearer": "${{ stages.login.token }}.${{ secrets.KEY }}" } ]"#
        let one = try await service(both, token: "t1", secret: "a")
        #expect(try await service(both, token: "t2", secret: "a") == one)
        #expect(try await service(both, token: "t2", secret: "b") != one)
    }

    @Test("is told by the value where an expression takes no name for it")
    func unnamed() async throws {
        let summed = #""with": [ { "bearer": "${{ stages.login.number + 1 }}${{ stages.login.token }}" } ]"#
        let first = try await service(summed, token: "t1")
        #expect(try await service(summed, token: "t2") != first)
        #expect(try await service(summed, token: "t1") == first)
    }
}
