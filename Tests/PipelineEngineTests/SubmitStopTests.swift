import JSONPath
import PipelineCore
import PipelineEngine
import PipelineTestKit
import Testing

/// A stop that comes while a submit is at the service: without its response nobody knows whether it was taken.
@Suite("A stop during a submit")
struct SubmitStopTests {
    /// Sends a submit that is answered after a time, and then waits for its job for ever.
    private static func submitting(
        answeredAfter delay: Duration, isLost: Bool, _ clock: Mutexed<VirtualClock?>
    ) -> StageKind {
        StageKind.scripted("order", captures: ["id"]) { _, _, context async throws(StageFailure) in
            let outcome = try await context.submit(
                body: [1],
                send: { _ async throws(StageFailure) in
                    do {
                        try await clock.value?.sleep(until: context.now + delay)
                    } catch {
                        throw .stopped
                    }
                    return isLost ? .uncertain(StepFailure("cut")) : .accepted(["id": "j7"])
                },
                reconcile: { _ throws(StageFailure) in .unsettled(reason: "there is no way") })
            switch outcome {
            case .submitted: return .waiting("1", until: .callback(orAt: nil), WaitReason(.callback))
            case .waiting(let time): return .waiting("1", until: .at(time), WaitReason(.settle))
            case .unknown(let submit): return .unknown("1", submit)
            }
        }
    }

    private static func stopped(
        answeredAfter delay: Duration, isLost: Bool = false, by stop: (Engine.JobHandle) -> Void
    ) -> (bench: EngineBench, end: Result<JobEnd, JournalFailure>?, took: Duration) {
        let clock = Mutexed<VirtualClock?>(nil)
        let kind = submitting(answeredAfter: delay, isLost: isLost, clock)
        let bench = EngineBench(#"{ "id": "a", "kind": "order" }"#, kinds: [kind])
        clock.set(VirtualClock(bench.simulation))
        let life = bench.live()
        bench.run { bench.job()?.submits[StepKey(stage: "a")]?.phase == .sending }
        let begin = bench.simulation.now
        if let drive = life.drive.value { stop(drive) }
        let end = bench.end(of: life)
        return (bench, end, bench.simulation.now - begin)
    }

    @Test("waits for the response, and what it gave is kept")
    func answered() {
        let (bench, end, took) = Self.stopped(answeredAfter: .seconds(2)) { $0.suspend(.interrupted) }
        #expect(end == .success(.suspended(.interrupted)))
        #expect(bench.job()?.submits[StepKey(stage: "a")]?.phase == .submitted)
        #expect(bench.job()?.steps[StepKey(stage: "a")]?.captures["id"] == "j7")
        #expect(took < .seconds(3))
    }

    /// The job there could not be cancelled: its id was in the response that was cut off.
    @Test("lets a cancellation know what there is to cancel")
    func cancelled() {
        let (bench, end, _) = Self.stopped(answeredAfter: .seconds(2)) { $0.cancel() }
        #expect(end == .success(.ended(.cancelled)))
        #expect(bench.job()?.submits[StepKey(stage: "a")]?.phase == .submitted)
    }

    /// The job was called suspended, and no 'resume' went on with it; an item of a batch stayed so for good.
    @Test("leaves the job unknown where the response is lost meanwhile")
    func lost() {
        let (bench, end, _) = Self.stopped(answeredAfter: .seconds(2), isLost: true) { $0.suspend(.interrupted) }
        #expect(end == .success(.unknown))
        #expect(bench.job()?.phase(isOwned: false) == .unknown)
    }

    @Test("waits no longer than a person would")
    func unanswered() {
        let (bench, end, took) = Self.stopped(answeredAfter: .seconds(600)) { $0.suspend(.interrupted) }
        #expect(end == .success(.suspended(.interrupted)))
        #expect(bench.job()?.submits[StepKey(stage: "a")]?.phase == .sending)
        #expect(took >= .seconds(3) && took < .seconds(4))
        #expect(bench.end(of: bench.live()) == .success(.unknown))
    }

    /// The stop came while the ledger's entry was being written: the order went out all the same, and its response was cut off.
    @Test("sends no submit that it would cut off, whenever it comes")
    func anyMoment() {
        var phases: Set<SubmitRecord.Phase?> = []
        for moment in 0..<400 {
            let clock = Mutexed<VirtualClock?>(nil)
            let kind = Self.submitting(answeredAfter: .milliseconds(5), isLost: false, clock)
            let bench = EngineBench(#"{ "id": "a", "kind": "order" }"#, kinds: [kind], seed: UInt64(moment))
            clock.set(VirtualClock(bench.simulation))
            let life = bench.live()
            bench.run { life.drive.value != nil }
            bench.pass(.microseconds(moment * 250))
            life.drive.value?.suspend(.interrupted)
            #expect(bench.end(of: life) == .success(.suspended(.interrupted)))
            phases.insert(bench.job()?.submits[StepKey(stage: "a")]?.phase)
        }
        #expect(phases.isSubset(of: [nil, .intent, .submitted]) && phases.contains(.submitted), "\(phases)")
    }
}
