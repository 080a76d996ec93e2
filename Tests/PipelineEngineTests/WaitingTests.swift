import JSONPath
import PipelineCore
import PipelineEngine
import PipelineTestKit
import Testing

/// Waits, retries, deadlines and outages, in virtual time.
@Suite struct WaitingTests {
    /// A stage that waits a number of times for a while, then ends.
    private static func polling(_ times: Int, every pause: Duration, alive: Mutexed<Int>? = nil) -> StageKind {
        StageKind.scripted("poll") { _, checkpoint, context async throws(StageFailure) in
            alive?.change { $0 += 1 }
            defer { alive?.change { $0 -= 1 } }
            let count = checkpoint.flatMap { Int($0) } ?? 0
            if count == times { return .finished([:]) }
            return .waiting("\(count + 1)", until: .at(context.now + pause), WaitReason(.poll))
        }
    }

    /// A stage whose first tries fail.
    private static func failing(_ failures: [AttemptFailure.Kind], retryAfter: Duration? = nil) -> (
        StageKind, Mutexed<[Timestamp]>
    ) {
        let calls = Mutexed<[Timestamp]>([])
        let kind = StageKind.scripted("try") { _, _, context async throws(StageFailure) in
            let index = calls.value.count
            let now = context.now
            calls.change { $0.append(now) }
            guard index < failures.count else { return .finished([:]) }
            throw .failed(AttemptFailure(StepFailure("try \(index)"), kind: failures[index], retryAfter: retryAfter))
        }
        return (kind, calls)
    }

    @Test("a step that waits holds no task, and a day of waits costs no time")
    func waitsAreRows() {
        let alive = Mutexed(0)
        let bench = EngineBench(
            #"{ "id": "a", "kind": "poll" }"#, kinds: [Self.polling(288, every: .seconds(300), alive: alive)])
        let start = bench.simulation.now
        let life = bench.live()
        bench.run { bench.state("a")?.name == .waiting }
        #expect(alive.value == 0)
        #expect(bench.end(of: life) == .success(.ended(.succeeded)))
        #expect(bench.simulation.now - start >= .seconds(86_400))
        #expect(bench.job()?.steps[StepKey(stage: "a")]?.resumes == 288)
        #expect(bench.job()?.steps[StepKey(stage: "a")]?.attempts == 1)
    }

    @Test("a far deadline beside many short waits is waited for once")
    func timersDoNotPileUp() {
        let kinds = [
            Self.polling(200, every: .seconds(5)),
            StageKind.scripted("sleep") { _, checkpoint, context async throws(StageFailure) in
                if checkpoint != nil { return .finished([:]) }
                return .waiting("1", until: .at(context.now + .seconds(86_400)), WaitReason(.time))
            },
        ]
        let bench = EngineBench(
            #"{ "id": "a", "kind": "poll", "needs": [] }, { "id": "b", "kind": "sleep", "needs": [] }"#, kinds: kinds)
        let life = bench.live()
        bench.run { bench.state("a")?.name == .succeeded }
        #expect(life.process.clock.sleepers <= 3)
        #expect(bench.end(of: life) == .success(.ended(.succeeded)))
    }

    @Test("retries come after the policy's delays")
    func retryDelays() {
        let (kind, calls) = Self.failing([.answered, .silent, .answered])
        let retry = #""retry": { "delay": "2s", "factor": 3, "jitter": "none" }"#
        let bench = EngineBench(#"{ "id": "a", "kind": "try", \#(retry) }"#, kinds: [kind])
        #expect(bench.end(of: bench.live()) == .success(.ended(.succeeded)))
        let gaps = zip(calls.value.dropFirst(), calls.value).map { ($0 - $1).seconds.rounded() }
        #expect(gaps == [2, 6, 18])
        #expect(bench.job()?.steps[StepKey(stage: "a")]?.attempts == 4)
    }

    @Test("Retry-After holds over a restart")
    func retryAfterHolds() {
        let (kind, calls) = Self.failing([.answered], retryAfter: .seconds(600))
        let bench = EngineBench(#"{ "id": "a", "kind": "try" }"#, kinds: [kind])
        let life = bench.live()
        bench.run { bench.state("a")?.name == .waiting }
        life.drive.value?.suspend(.interrupted)
        #expect(bench.end(of: life) == .success(.suspended(.interrupted)))
        bench.pass(.seconds(60))
        #expect(bench.end(of: bench.live()) == .success(.ended(.succeeded)))
        #expect(calls.value.count == 2 && calls.value[1] - calls.value[0] >= .seconds(600))
    }

    @Test("a day without network suspends the job, and a resume ends it well")
    func longOutage() {
        let isDown = Mutexed(true)
        let kind = StageKind.scripted("net") { _, _, _ async throws(StageFailure) in
            if isDown.value { throw .failed(AttemptFailure(StepFailure("no route"), kind: .silent)) }
            return .finished([:])
        }
        let bench = EngineBench(
            #"{ "id": "a", "kind": "net", "retry": { "attempts": 1, "for": "24h" } }"#, kinds: [kind])
        let start = bench.simulation.now
        #expect(bench.end(of: bench.live()) == .success(.suspended(.noNetwork)))
        let tried = bench.simulation.now - start
        #expect(tried > .seconds(80_000) && tried <= .seconds(86_500))
        #expect(bench.job()?.suspension(isOwned: false) == .noNetwork)
        #expect(bench.end(of: bench.live()) == .success(.suspended(.noNetwork)), "a resume has a fresh day")
        isDown.set(false)
        #expect(bench.end(of: bench.live()) == .success(.ended(.succeeded)))
    }

    @Test("steps beside one that lacks a secret end what they do, nothing new begins, then the job is let go")
    func besideSuspended() {
        let diary = Mutexed<[String]>([])
        let hasSecret = Mutexed(false)
        let kind = StageKind.scripted("work") { reading, saved, context async throws(StageFailure) in
            let stage = context.facts.step.stage
            diary.change { $0.append(stage) }
            if reading != nil, !hasSecret.value {
                throw .failed(AttemptFailure(StepFailure("the secret TOKEN is not set"), kind: .secret))
            }
            if stage == "slow", saved != "3" {
                let next = "\((Int(saved ?? "0") ?? 0) + 1)"
                return .waiting(next, until: .at(context.now + .seconds(600)), WaitReason(.poll))
            }
            return .finished([:])
        }
        let bench = EngineBench(
            """
            { "id": "poor", "kind": "work", "reading": 1, "needs": [] }, { "id": "slow", "kind": "work", "needs": [] },
            { "id": "after", "kind": "work", "needs": ["slow"] }, { "id": "last", "kind": "work", "needs": ["poor"] }
            """, kinds: [kind])
        #expect(bench.end(of: bench.live()) == .success(.suspended(.secret)))
        #expect(diary.value.sorted() == ["poor", "slow", "slow", "slow", "slow"])
        #expect(bench.state("slow")?.name == .succeeded && bench.state("after") == .pending)
        #expect(bench.recorder.events.last?.data["detail"] == "the secret TOKEN is not set")
        hasSecret.set(true)
        #expect(bench.end(of: bench.live()) == .success(.ended(.succeeded)))
        #expect(diary.value.dropFirst(5).sorted() == ["after", "last", "poor"])
    }

    @Test("a step whose wait is over before it begins goes on in its slot, without a commit between")
    func noWait() {
        let calls = Mutexed<[String?]>([])
        let kind = StageKind.scripted("work") { _, saved, context async throws(StageFailure) in
            calls.change { $0.append(saved) }
            guard saved == "2" else {
                let next = saved == nil ? "1" : "2"
                return .waiting(next, until: .at(context.now), WaitReason(.poll))
            }
            return .finished([:])
        }
        let bench = EngineBench(#"{ "id": "a", "kind": "work" }"#, kinds: [kind])
        #expect(bench.end(of: bench.live()) == .success(.ended(.succeeded)))
        #expect(calls.value == [nil, "1", "2"])
        // Its creation with its start, and its end.
        #expect(bench.memory.commits == 2)
        #expect(bench.recorder.events.map(\.kind) == [.jobStarted, .stageStarted, .stageSucceeded, .jobSucceeded])
    }

    @Test("a deadline counts from the first start, over restarts, and ends a stage that runs")
    func deadlineOverRestarts() {
        let kind = StageKind.scripted("long") { _, _, context async throws(StageFailure) in
            do {
                try await context.sleepForEver()
            } catch {
                throw .stopped
            }
            return .finished([:])
        }
        let bench = EngineBench(#"{ "id": "a", "kind": "long", "deadline": "1h" }"#, kinds: [kind])
        let start = bench.simulation.now
        let life = bench.live()
        bench.run { bench.state("a")?.name == .running }
        bench.pass(.seconds(1800))
        life.process.kill()
        life.drive.value?.suspend(.interrupted)
        _ = bench.end(of: life)
        #expect(bench.end(of: bench.live()) == .success(.ended(.failed)))
        let length = bench.simulation.now - start
        #expect(length >= .seconds(3600) && length < .seconds(3601))
        guard case .failed(let failure) = bench.state("a") else { return #expect(Bool(false)) }
        #expect(failure.title.contains("deadline"))
    }

    /// Items that had sent nothing failed by it, for want of a place.
    @Test(
        "a deadline counts from when a service lets the step in; of one that has begun the wait counts",
        arguments: [(.closed, false), (.full, false), (.closed, true)] as [(WaitReason.Kind, Bool)])
    func deadlineOfHeld(reason: WaitReason.Kind, hasBegun: Bool) {
        let calls = Mutexed(0)
        let kind = StageKind.scripted("model") { _, saved, context async throws(StageFailure) in
            calls.change { $0 += 1 }
            if hasBegun, saved == nil {
                return .waiting("begun", until: .at(context.now + .seconds(1)), WaitReason(.poll))
            }
            guard calls.value > 3 else {
                throw .failed(
                    AttemptFailure(StepFailure("not now"), kind: .held(reason), retryAfter: .seconds(3600)))
            }
            do {
                try await context.sleepForEver()
            } catch {
                throw .stopped
            }
            return .finished([:])
        }
        let bench = EngineBench(
            #"{ "id": "a", "kind": "model", "deadline": "1h" }"#, kinds: [kind], background: nil)
        let start = bench.simulation.now
        let life = bench.live()
        bench.run { calls.value == 2 && bench.state("a")?.name == .waiting }
        #expect((bench.job()?.steps[StepKey(stage: "a")]?.started == nil) == !hasBegun)
        #expect(bench.end(of: life) == .success(.ended(.failed)))
        let (length, hours) = (bench.simulation.now - start, hasBegun ? 1 : 4)
        #expect(length >= .seconds(hours * 3600) && length < .seconds(hours * 3600 + 10), "\(length)")
    }

    // The job failed: nothing told that an order may be there.
    @Test(
        "a deadline that falls into a submit, or between two sends of it, leaves the job unknown",
        arguments: [false, true])
    func deadlineInSubmit(keepsTrying: Bool) {
        let bench = Self.ordering(keepsTrying: keepsTrying)
        #expect(bench.end(of: bench.live()) == .success(.unknown))
        guard case .unknown(_, let submit) = bench.state("a") else { return #expect(Bool(false)) }
        #expect(submit.reason == "stage 'a' did not end before its deadline")
        #expect(submit.key == bench.job()?.submits[StepKey(stage: "a")]?.key)
    }

    // The next resume failed it at once.
    @Test("what a person settles after its deadline has it anew")
    func settledAfterDeadline() {
        let bench = Self.ordering(keepsTrying: false)
        #expect(bench.end(of: bench.live()) == .success(.unknown))
        let person = SimulatedProcess(bench.simulation, name: "person")
        let settling = person.lane.start {
            guard let plan = try? bench.plan() else { return }
            let engine = Engine(ports: bench.ports(of: person))
            try? await engine.resolve(JobID("j1"), StepKey(stage: "a"), plan: plan, as: .found(["id": "7"]))
        }
        bench.run { settling.isEnded }
        bench.memory.lose(person.owner)
        #expect(bench.end(of: bench.live()) == .success(.ended(.succeeded)))
    }

    /// A stage whose submit gets no response; it sends again when it `keepsTrying`.
    private static func ordering(keepsTrying: Bool) -> EngineBench {
        let kind = StageKind.scripted("order", captures: ["id"]) { _, _, context async throws(StageFailure) in
            let outcome = try await context.submit(
                body: [1],
                send: { _ async throws(StageFailure) in
                    if keepsTrying { return .uncertain(StepFailure("no response")) }
                    do {
                        try await context.sleepForEver()
                    } catch {
                        throw .stopped
                    }
                    return .accepted([:])
                },
                reconcile: { _ async throws(StageFailure) in keepsTrying ? .resend : .unsettled(reason: "lost") })
            guard case .submitted = outcome else { throw .definite(StepFailure("not submitted")) }
            return .finished([:])
        }
        let retry = #""retry": { "delay": "10m", "max": "10m", "jitter": "none" }"#
        return EngineBench(#"{ "id": "a", "kind": "order", "deadline": "5m", \#(retry) }"#, kinds: [kind])
    }

    @Test("a deadline that passes while the start is committed ends the stage all the same", arguments: 1...8)
    func deadlineBeforeCall(seed: UInt64) {
        let kind = StageKind.scripted("long") { _, _, context async throws(StageFailure) in
            do {
                try await context.sleepForEver()
            } catch {
                throw .stopped
            }
            return .finished([:])
        }
        let bench = EngineBench(
            #"{ "id": "a", "kind": "long", "deadline": "1ms" }"#, kinds: [kind], seed: seed, slowness: 1)
        let start = bench.simulation.now
        #expect(bench.end(of: bench.live()) == .success(.ended(.failed)))
        #expect(bench.simulation.now - start < .seconds(60))
    }

    @Test("a laptop closed past a stage's own deadline: the stage is called once more and decides")
    func ownDeadline() {
        let calls = Mutexed(0)
        let kind = StageKind.scripted("remote", keepsOwnDeadline: true) {
            _, checkpoint, context async throws(StageFailure) in
            calls.change { $0 += 1 }
            if checkpoint != nil { return .finished([:]) }
            return .waiting("1", until: .at(context.now + .seconds(10)), WaitReason(.poll))
        }
        let bench = EngineBench(#"{ "id": "a", "kind": "remote", "deadline": "1h" }"#, kinds: [kind])
        let life = bench.live()
        bench.run { bench.state("a")?.name == .waiting }
        life.process.lane.freeze()
        bench.pass(.seconds(86_400))
        life.process.lane.thaw()
        #expect(bench.end(of: life) == .success(.ended(.succeeded)))
        #expect(calls.value == 2)
    }

    @Test("a failed job that is resumed by name has a fresh deadline")
    func freshDeadline() {
        let isQuick = Mutexed(false)
        let kind = StageKind.scripted("slow") { _, saved, context async throws(StageFailure) in
            if saved == "again" { return .finished([:]) }
            if isQuick.value { return .waiting("again", until: .at(context.now + .seconds(60)), WaitReason(.poll)) }
            return .waiting("1", until: .at(context.now + .seconds(7200)), WaitReason(.poll))
        }
        let bench = EngineBench(#"{ "id": "a", "kind": "slow", "deadline": "1h" }"#, kinds: [kind])
        #expect(bench.end(of: bench.live()) == .success(.ended(.failed)))
        isQuick.set(true)
        #expect(bench.end(of: bench.live(again: .failed)) == .success(.ended(.succeeded)))
    }
}

extension StageContext {
    /// Ends only by being stopped.
    func sleepForEver() async throws(CancellationError) {
        let (stream, continuation) = AsyncStream<Void>.makeStream()
        for await _ in stream {}
        _ = continuation
        throw CancellationError()
    }
}
