import JSONPath
import PipelineCore
import PipelineEngine
import PipelineTestKit
import Testing

/// Deadlines of jobs that the budget holds back, in virtual time.
@Suite struct HeldDeadlineTests {
    private static let budget = #"{ "budget": { "resumes": 0, "per": "1h", "base": "1h", "max": "8h" } }"#

    /// A transfer whose first try is answered with a failure, the second with all that is wanted.
    private static func flaky() -> StageKind {
        let calls = Mutexed(0)
        return StageKind.scripted("flaky", work: .transfer) { _, _, _ async throws(StageFailure) in
            calls.change { $0 += 1 }
            if calls.value > 1 { return .finished([:]) }
            throw .failed(AttemptFailure(StepFailure("not yet"), kind: .answered))
        }
    }

    private static func bench(_ stages: String) -> (bench: EngineBench, job: String) {
        BackgroundTests.bench(
            stages,
            kinds: [flaky(), BackgroundTests.transfer("send"), BackgroundTests.transfer("slow", seconds: 1000)],
            background: budget)
    }

    @Test("a try that its budget would put off past its deadline comes a while before that, and is entered as such")
    func ownDeadline() {
        let (bench, job) = Self.bench(
            #"{ "id": "x", "kind": "flaky", "deadline": "10m", "retry": { "delay": "1m" } }"#)
        let start = bench.simulation.now
        #expect(bench.end(of: bench.live(job: job)) == .success(.ended(.succeeded)))
        #expect((bench.simulation.now - start).seconds.rounded() == 540)
        #expect(bench.memory.image.resumes.contains { $0.charge == .expedited && $0.reason == .retry })
    }

    @Test("the end of one transfer does not put another's next try off past its deadline")
    func otherDeadline() {
        let (bench, job) = Self.bench(
            #"""
            { "id": "a", "kind": "send", "needs": [] }, { "id": "c", "kind": "send", "needs": ["a"] },
            { "id": "x", "kind": "flaky", "needs": [], "deadline": "10m", "retry": { "delay": "1m" } }
            """#)
        let start = bench.simulation.now
        let life = bench.live(job: job)
        bench.run { bench.state("x", of: job)?.isEnded == true }
        #expect(bench.state("x", of: job)?.name == .succeeded)
        #expect((bench.simulation.now - start).seconds <= 541)
        #expect(bench.end(of: life) == .success(.ended(.succeeded)))
    }

    @Test("a call is stopped at its deadline while the rest is held back, and the job that fails by it ends at once")
    func runningDeadline() {
        let (bench, job) = Self.bench(
            #"""
            { "id": "a", "kind": "send", "needs": [] }, { "id": "c", "kind": "send", "needs": ["a"] },
            { "id": "slow", "kind": "slow", "needs": [], "deadline": "60s" }
            """#)
        let start = bench.simulation.now
        #expect(bench.end(of: bench.live(job: job)) == .success(.ended(.failed)))
        #expect((bench.simulation.now - start).seconds.rounded() == 60)
    }
}
