import JSONPath
import PipelineCore
import PipelineEngine
import PipelineTestKit
import Testing

/// Round trips for credentials in the ledger of resumes, beside what was foretold of them.
@Suite struct AuthenticationTests {
    private static let oauth = #""reading": { "with": [ { "oauth2": { "tokenURL": "http://auth.test/token" } } ] }"#

    private static func transfer(_ name: String) -> StageKind {
        StageKind.scripted(name, work: .transfer) { _, _, _ in .finished([:]) }
    }

    /// A remote job that fetches a token when it is told to, submits, and waits for a push.
    private static func remote(_ clock: Mutexed<VirtualClock?>) -> StageKind {
        StageKind.scripted("compute", work: .remoteJob(submits: true, isPushed: true)) {
            reading, saved, context async throws(StageFailure) in
            guard saved == nil else { return .finished([:]) }
            _ = try await context.submit(body: []) { _ async throws(StageFailure) in
                if reading != nil { context.authenticates() }
                // Resumes of the same moment would be one.
                try? await clock.value?.sleep(until: context.now + .seconds(1))
                return .accepted([:])
            } reconcile: { _ async throws(StageFailure) in
                .resend
            }
            return .waiting("1", until: .callback(orAt: context.now + .seconds(86_400)), WaitReason(.callback))
        }
    }

    /// The selfie flow with a push, in the background under a phone's budget.
    private static func run(_ member: String, mode: JobMode = .background) throws -> (EngineBench, BackgroundForecast) {
        let clock = Mutexed<VirtualClock?>(nil)
        let bench = EngineBench(
            #"""
            { "id": "upload", "kind": "send" }, { "id": "model", "kind": "compute" \#(member) },
            { "id": "download", "kind": "fetch" }
            """#,
            kinds: [transfer("send"), remote(clock), transfer("fetch")], slowness: 0, mode: mode,
            background: #"{ "budget": "ios" }"#)
        clock.set(VirtualClock(bench.simulation))
        let forecast = BackgroundForecast(try bench.plan(), at: bench.simulation.now)
        let life = bench.live()
        bench.run { bench.state("model")?.name == .waiting }
        bench.pass(.seconds(1))
        let service = SimulatedLane(bench.simulation)
        service.start {
            _ = try? await bench.memory.post(
                Callback(id: "e", time: bench.simulation.now), to: StepKey(stage: "model"), of: JobID("j1"))
            life.drive.value?.checkInbox()
        }
        #expect(bench.end(of: life) == .success(.ended(.succeeded)))
        return (bench, forecast)
    }

    @Test(
        "what is foretold is what is entered: 4 resumes, with an authentication challenge on the submit 5",
        arguments: [
            ("", 4), (", \(oauth)", 5),
        ])
    func ledgerEqualsForecast(member: String, count: Int) throws {
        let (bench, forecast) = try Self.run(member)
        #expect(forecast.resumes == count)
        let foretold = forecast.stages.flatMap { stage in
            stage.resumes.flatMap { Array(repeating: "\(stage.id) \($0.reason.rawValue)", count: $0.count) }
        }
        let rows = bench.memory.image.resumes
        #expect(rows.map { "\($0.step?.stage ?? "") \($0.reason.rawValue)" } == foretold)
        let counted = ["upload", "model", "download"].map { bench.job()?.steps[StepKey(stage: $0)]?.resumes ?? 0 }
        #expect(counted == forecast.stages.map(\.count))
        let delays = bench.memory.image.events(of: JobID("j1")).filter { $0.kind == .resumeDeferred }
            .compactMap { $0.data["delay"]?.number?.double }
        #expect(delays == forecast.stages.map(\.delay.seconds).filter { $0 > 0 })
    }

    /// The last of them was foretold to cost nothing: a job's end came two seconds later than was said.
    @Test("what is foretold of stages that wait is what they wait, the last one too")
    func waits() throws {
        let kind = StageKind.scripted("pause", work: .wait) { _, saved, context async throws(StageFailure) in
            guard saved == nil else { return .finished([:]) }
            return .waiting("1", until: .at(context.now + .milliseconds(100)), WaitReason(.time))
        }
        let bench = EngineBench(
            ["a", "b", "c"].map { #"{ "id": "\#($0)", "kind": "pause" }"# }.joined(separator: ", "), kinds: [kind],
            slowness: 0, mode: .background,
            background: #"{ "budget": { "resumes": 1, "per": "1h", "base": "1s", "factor": 2, "max": "2s" } }"#)
        let forecast = BackgroundForecast(try bench.plan(), at: bench.simulation.now)
        #expect(bench.end(of: bench.live()) == .success(.ended(.succeeded)))
        let delays = bench.memory.image.events(of: JobID("j1")).filter { $0.kind == .resumeDeferred }
            .compactMap { $0.data["delay"]?.number?.double }
        #expect(delays == [1, 2])
        #expect(forecast.stages.map(\.delay.seconds) == [0, 1, 2])
    }

    @Test("while a person waits it is counted, and nothing is entered")
    func attended() throws {
        let (bench, _) = try Self.run(", \(Self.oauth)", mode: .attached)
        #expect(bench.memory.image.resumes.isEmpty)
        #expect(bench.job()?.steps[StepKey(stage: "model")]?.resumes == 3)
    }
}
