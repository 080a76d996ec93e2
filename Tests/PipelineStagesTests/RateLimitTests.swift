import HTTPTypes
import JSONPath
import PipelineCore
import PipelineHTTP
import PipelineTestKit
import Synchronization
import Testing

/// GitHub and Google say "too many requests" with 403. It was told as wrong credentials, and ended the stage of a job
/// that ran.
@Suite("A 403 that says that there were too many requests")
struct RateLimitTests {
    /// Closes a service for as long as an answer says.
    private final class ClosingServices: ServiceGate {
        let answers = Mutex<[ServiceAnswer]>([])
        let services = Mutex<[(id: ServiceID, name: String)]>([])

        func admit(_ service: ServiceID) async -> ServiceAdmission { .open }

        func record(
            _ answer: ServiceAnswer, of service: ServiceID, named name: String, isTrial: Bool
        ) async -> Duration? {
            answers.withLock { $0.append(answer) }
            services.withLock { $0.append((service, name)) }
            guard case .closed(let wait) = answer else { return nil }
            return wait
        }

        func claimComputation(
            at service: ServiceID, for step: StepKey, of job: JobID, limit: Int
        ) async -> Timestamp? { nil }
    }

    /// Lets in as it is told, and keeps what came of it.
    private final class TrialServices: ServiceGate {
        let admissions = Mutex<[ServiceID: ServiceAdmission]>([:])
        let records = Mutex<[(answer: ServiceAnswer, id: ServiceID, isTrial: Bool)]>([])

        func admit(_ service: ServiceID) async -> ServiceAdmission {
            admissions.withLock { $0[service] ?? .open }
        }

        func record(
            _ answer: ServiceAnswer, of service: ServiceID, named name: String, isTrial: Bool
        ) async -> Duration? {
            records.withLock { $0.append((answer, service, isTrial)) }
            guard case .closed(let wait) = answer else { return nil }
            return wait
        }

        func claimComputation(
            at service: ServiceID, for step: StepKey, of job: JobID, limit: Int
        ) async -> Timestamp? { nil }
    }

    static let stages = [
        #"{ "id": "a", "kind": "request", "service": "api", "request": { "GET": "/jobs/7" } }"#,
        #"{ "id": "a", "kind": "compute", "service": "api", "submit": { "POST": "/jobs/7", "json": {} } }"#,
    ]
    static let polling = """
        { "id": "a", "kind": "compute", "service": "api",
          "poll": { "GET": "/jobs/7", "status": "$.state", "succeeded": ["done"] } }
        """

    private func bench(
        _ stage: String, _ headers: [String: String], body: String = "{}", status: Int = 403
    ) throws -> StageBench {
        let service = ScriptedService()
        for line in ["GET /v1/jobs/7", "POST /v1/jobs/7"] { service.on(line, status, body, headers: headers) }
        service.on("GET /v1/jobs/7", 200, #"{"state": "done"}"#)
        return try StageBench(stage, network: service.network)
    }

    @Test("is tried again, not before the time that it names", arguments: stages)
    func retried(stage: String) async throws {
        let failed = try #require(await (try bench(stage, ["Retry-After": "7"])).resume().tryFailure)
        #expect(failed.kind == .answered && failed.retryAfter == .seconds(7))
        #expect(failed.failure.title == "service 'api' answered 403 Forbidden" && failed.failure.status == 403)
        #expect(failed.failure.hint?.hasPrefix("the service wants fewer requests") == true)
    }

    @Test(
        "is known by what it counts as left, and else is a refusal",
        arguments: [
            (["X-RateLimit-Remaining": "0"], true), (["RateLimit-Remaining": "0"], true),
            (["X-RateLimit-Remaining": "12"], false), (["Retry-After": "0"], false), (["X-Other": "0"], false),
        ])
    func remaining(headers: [String: String], isLimit: Bool) async throws {
        for stage in Self.stages {
            let kind = await (try bench(stage, headers)).resume().tryFailure?.kind
            #expect(kind == (isLimit ? .answered : .definite), "\(stage)")
        }
    }

    @Test("is no failed job when a poll is answered so")
    func poll() async throws {
        let bench = try bench(Self.polling, ["Retry-After": "7"])
        #expect(await bench.resume().isWaiting)
        #expect((bench.wait ?? 0) >= 7)
        #expect(await bench.run().isFinished)
    }

    @Test("closes the service for all", arguments: stages + [polling])
    func closes(stage: String) async throws {
        let services = ClosingServices()
        let bench = try bench(stage, ["Retry-After": "7"])
        bench.host.read { $0.services = services }
        let failed = try #require(await bench.resume().tryFailure)
        #expect(failed.kind == .held(.closed) && failed.retryAfter == .seconds(7))
        #expect(services.answers.withLock { $0 } == [.closed(.seconds(7))])
    }

    /// A bucket's 503 closed the service that had redirected to it: its polls and submits stood still.
    @Test(
        "closes the origin that a redirect led to, and not the service that redirected",
        arguments: [("http://cdn.test/f", ["api", "cdn.test"]), ("http://api.test/v2/f", ["api"])])
    func redirected(url: String, closed: [String]) async throws {
        let services = ClosingServices()
        let network = Network(
            transport: ScriptedTransport { _, _ async throws(ExchangeFailure) in
                HTTPExchangeResponse(status: 503, headers: [.retryAfter: "7"], url: url, redirects: 1)
            })
        let bench = try StageBench(Self.stages[0], network: network)
        bench.host.read { $0.services = services }
        let failed = try #require(await bench.resume().tryFailure)
        #expect(failed.kind == .held(.closed) && failed.retryAfter == .seconds(7))
        let told = services.services.withLock { $0 }
        #expect(told.map(\.name) == closed && Set(told.map(\.id)).count == closed.count)
        #expect(services.answers.withLock { $0.last } == .closed(.seconds(7)))
        #expect(services.answers.withLock { $0.count } == closed.count)
    }

    /// All who had been led to a closed host went there together when its time had passed.
    @Test("has an origin that a redirect led to tried by one alone, as any service, and then asked by all again")
    func redirectedTrial() async throws {
        let status = Mutex(503)
        let sent = Mutex(0)
        let network = Network(
            transport: ScriptedTransport { _, _ async throws(ExchangeFailure) in
                sent.withLock { $0 += 1 }
                return HTTPExchangeResponse(
                    status: status.withLock { $0 }, headers: [.retryAfter: "7"], body: Array("{}".utf8),
                    url: "http://cdn.test/f", redirects: 1)
            })
        let services = TrialServices()
        let bench = try StageBench(Self.stages[0], network: network)
        bench.host.read { $0.services = services }
        #expect(await bench.resume().tryFailure?.kind == .held(.closed))
        let cdn = try #require(services.records.withLock { $0.last?.id })
        services.admissions.withLock { $0[cdn] = .closed(until: bench.host.now + .seconds(7)) }
        let held = try #require(await bench.resume().tryFailure)
        #expect(held.kind == .held(.closed) && held.failure.title.contains("cdn.test takes no requests now"))
        #expect(sent.withLock { $0 } == 1)
        services.admissions.withLock { $0[cdn] = .trial }
        status.withLock { $0 = 200 }
        #expect(await bench.resume().isFinished)
        let trial = try #require(services.records.withLock { $0.last })
        #expect(trial.id == cdn && trial.answer == .taken && trial.isTrial)
        // Nothing is known of it any more.
        services.admissions.withLock { $0[cdn] = .closed(until: bench.host.now + .seconds(7)) }
        #expect(await bench.resume().isFinished)
    }

    @Test(
        "or speaks of it in words is not told as wrong credentials, but how it is tried again",
        arguments: [
            (403, #"{"message": "API rate limit exceeded for user"}"#, true),
            (403, #"{"error": {"errors": [{"reason": "userRateLimitExceeded"}]}}"#, true),
            (401, #"{"error": "Quota exhausted"}"#, true), (403, "RATE_LIMITED: rate-limit", true),
            (403, #"{"message": "this operation is unlimited to generated members"}"#, false), (401, "", false),
        ])
    func words(status: Int, body: String, isLimit: Bool) async throws {
        for stage in Self.stages + [Self.polling] {
            let failed = try #require(await (try bench(stage, [:], body: body, status: status)).resume().tryFailure)
            #expect(failed.kind == .definite)
            let hint = failed.failure.hint ?? ""
            #expect(hint.contains("retry.statuses names \(status)") == isLimit, "\(hint)")
            #expect(hint.contains("credentials") == !isLimit, "\(hint)")
        }
    }
}
