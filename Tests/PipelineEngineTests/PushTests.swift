import JSONPath
import PipelineCore
import PipelineEngine
import PipelineTestKit
import Testing

/// Pushes as the engine takes them: they wake, and say nothing.
@Suite struct PushTests {
    private static let seldom = Duration.seconds(3600)

    /// A stage that asks once an hour, or when it is pushed, and ends when the remote job has.
    private static func asking(_ isDone: Mutexed<Bool>, calls: Mutexed<Int>) -> StageKind {
        StageKind.scripted("ask") { _, _, context async throws(StageFailure) in
            calls.change { $0 += 1 }
            if isDone.value { return .finished([:]) }
            return .waiting("1", until: .callback(orAt: context.now + seldom), WaitReason(.poll))
        }
    }

    private func push(_ bench: EngineBench, _ life: EngineBench.Life, id: String = "e1") {
        let service = SimulatedLane(bench.simulation)
        service.start {
            _ = try? await bench.memory.post(
                Callback(id: id, time: bench.simulation.now), to: StepKey(stage: "a"), of: JobID("j1"))
            life.drive.value?.checkInbox()
        }
    }

    @Test("a push wakes its step at once, a repetition of it nothing, and without any the time comes")
    func wakes() {
        let (isDone, calls) = (Mutexed(false), Mutexed(0))
        let bench = EngineBench(#"{ "id": "a", "kind": "ask" }"#, kinds: [Self.asking(isDone, calls: calls)])
        let life = bench.live()
        bench.run { bench.state("a")?.name == .waiting }
        bench.pass(.seconds(10))
        push(bench, life)
        bench.run { calls.value == 2 }
        bench.run { bench.state("a")?.name == .waiting }
        push(bench, life)
        bench.pass(.seconds(10))
        #expect(calls.value == 2, "the second is a repetition")
        let start = bench.simulation.now
        isDone.set(true)
        #expect(bench.end(of: life) == .success(.ended(.succeeded)))
        #expect(bench.simulation.now - start > .seconds(3000))
        let kept = bench.memory.image.snapshot(of: JobID("j1"))
        #expect(kept?.pushes[StepKey(stage: "a")] == CallbackCount(taken: 1))
    }

    @Test("a push that comes while its step is being asked about is asked about again")
    func comesBetween() {
        let calls = Mutexed(0)
        let isAsking = Mutexed(false)
        let kind = StageKind.scripted("ask") { _, _, context async throws(StageFailure) in
            calls.change { $0 += 1 }
            if calls.value == 2 { return .finished([:]) }
            isAsking.set(true)
            _ = try await context.evaluate { scope throws(EvaluationFailure) in scope.ownKey }
            for _ in 0..<20 { await Task.yield() }
            return .waiting("1", until: .callback(orAt: context.now + Self.seldom), WaitReason(.poll))
        }
        let bench = EngineBench(#"{ "id": "a", "kind": "ask" }"#, kinds: [kind])
        let life = bench.live()
        let start = bench.simulation.now
        bench.run { isAsking.value }
        push(bench, life)
        #expect(bench.end(of: life) == .success(.ended(.succeeded)))
        #expect(calls.value == 2 && bench.simulation.now - start < .seconds(60))
    }

    @Test("a push for a job that nobody drives is there when it is taken up, and 'retry --from' forgets it")
    func isKept() {
        let pushed = Mutexed<[Bool]>([])
        let kind = StageKind.scripted("wait") { _, _, context async throws(StageFailure) in
            let isPushed = await context.isPushed
            pushed.change { $0.append(isPushed) }
            if isPushed { return .finished([:]) }
            return .waiting("1", until: .callback(orAt: nil), WaitReason(.callback))
        }
        let bench = EngineBench(#"{ "id": "a", "kind": "wait" }"#, kinds: [kind])
        let first = bench.live()
        bench.run { bench.state("a")?.name == .waiting }
        first.drive.value?.suspend(.interrupted)
        #expect(bench.end(of: first) == .success(.suspended(.interrupted)))
        push(bench, first)
        bench.pass(.seconds(5))
        #expect(bench.end(of: bench.live()) == .success(.ended(.succeeded)))
        let again = bench.live(again: .from("a"))
        bench.run { bench.state("a")?.name == .waiting }
        #expect(pushed.value.last == false)
        push(bench, again, id: "e1")
        bench.pass(.seconds(5))
        #expect(bench.state("a")?.name == .waiting, "a repetition of what came before")
        push(bench, again, id: "e2")
        #expect(bench.end(of: again) == .success(.ended(.succeeded)))
    }

    @Test("a push finds a parked job, and one timer is enough for jobs that wait for pushes alone")
    func findsParked() {
        let (isDone, calls) = (Mutexed(false), Mutexed(0))
        let bench = EngineBench(#"{ "id": "a", "kind": "ask" }"#, kinds: [Self.asking(isDone, calls: calls)])
        let process = SimulatedProcess(bench.simulation, name: "daemon")
        let scheduler = JobScheduler(SchedulerTests.Jobs(bench, process), clock: process.clock)
        let task = process.lane.start { await scheduler.run() }
        scheduler.take(JobID("j1"))
        bench.run { bench.state("a")?.name == .waiting }
        bench.pass(.seconds(60))
        isDone.set(true)
        let start = bench.simulation.now
        SimulatedLane(bench.simulation).start {
            _ = try? await bench.memory.post(
                Callback(id: "e", time: bench.simulation.now), to: StepKey(stage: "a"), of: JobID("j1"))
            scheduler.knock(JobID("j1"))
        }
        #expect(bench.run { bench.job()?.ended != nil })
        #expect(bench.simulation.now - start < .milliseconds(50))
        scheduler.stop()
        #expect(bench.run { task.isEnded })
    }
}
