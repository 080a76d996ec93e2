import JSONPath
import PipelineCore
import PipelineEngine
import PipelineTestKit
import Testing

/// Many jobs of a background owner, in virtual time.
@Suite struct SchedulerTests {
    /// The jobs of a bench as a background owner has them.
    final class Jobs: JobSource {
        let bench: EngineBench
        let engine: Engine
        let opened = Mutexed(0)
        let ends = Mutexed<[JobID: JobEnd]>([:])
        /// True once a person has asked to go on with what is paused.
        let resumesPaused = Mutexed(false)

        init(_ bench: EngineBench, _ process: SimulatedProcess, _ change: (inout EnginePorts) -> Void = { _ in }) {
            self.bench = bench
            var ports = bench.ports(of: process)
            change(&ports)
            engine = Engine(ports: ports)
        }

        func takeUp(_ job: JobID) async throws(JournalFailure) -> Engine.JobHandle? {
            let plan = try bench.plan()
            opened.change { $0 += 1 }
            guard let known = bench.recorder.job(job) else {
                return try await engine.start(bench.record(job), plan: plan, mode: .background)
            }
            if known.cause == .paused, !resumesPaused.value { return nil }
            return try await engine.resume(job, plan: plan, mode: .background)
        }

        func unpark(_ job: ParkedJob) async throws(JournalFailure) -> Engine.JobHandle {
            opened.change { $0 += 1 }
            return try await engine.unpark(job) { engine.unpark(job, as: $0, plan: try bench.plan()) }
        }

        func ended(_ job: JobID, _ result: Result<JobEnd, JournalFailure>, as snapshot: JobSnapshot?) async {
            if case .success(let end) = result { ends.change { $0[job] = end } }
        }
    }

    private static func polling(_ times: Int, every pause: Duration, from origin: Mutexed<[Timestamp]>) -> StageKind {
        StageKind.scripted("poll") { _, checkpoint, context async throws(StageFailure) in
            let now = context.now
            origin.change { $0.append(now) }
            let count = checkpoint.flatMap { Int($0) } ?? 0
            if count == times { return .finished([:]) }
            return .waiting("\(count + 1)", until: .at(context.now + pause), WaitReason(.poll))
        }
    }

    struct Life {
        let process: SimulatedProcess
        let scheduler: JobScheduler
        let jobs: Jobs
        let task: LaneTask
    }

    private func live(
        _ bench: EngineBench, _ name: String = "daemon", limits: JobScheduler.Limits = JobScheduler.Limits(),
        changing change: (inout EnginePorts) -> Void = { _ in }
    ) -> Life {
        let process = SimulatedProcess(bench.simulation, name: name)
        let jobs = Jobs(bench, process, change)
        let scheduler = JobScheduler(jobs, clock: process.clock, limits: limits)
        let task = process.lane.start { await scheduler.run() }
        return Life(process: process, scheduler: scheduler, jobs: jobs, task: task)
    }

    @Test("jobs that wait are rows: none is driven meanwhile, and each goes on in time and ends")
    func parks() {
        let calls = Mutexed<[Timestamp]>([])
        let bench = EngineBench(
            #"{ "id": "a", "kind": "poll" }"#, kinds: [Self.polling(20, every: .seconds(60), from: calls)],
            background: #"{ "budget": "unlimited" }"#)
        let life = live(bench)
        let start = bench.simulation.now
        for index in 0..<50 { life.scheduler.take(JobID("j\(index)")) }
        bench.run { calls.value.count == 50 }
        bench.pass(.seconds(10))
        #expect(life.process.clock.sleepers <= 2, "one timer for all")
        #expect(bench.run { (0..<50).allSatisfy { bench.job("j\($0)")?.ended != nil } })
        #expect(calls.value.count == 50 * 21)
        let late = calls.value.map { ($0 - start).seconds }.max() ?? 0
        #expect(late >= 1200 && late < 1200 + 21 * 2, "each wait is stretched by its slack at most, not \(late)")
        life.scheduler.stop()
        #expect(bench.run { life.task.isEnded })
    }

    @Test("a job that the budget holds back is parked until then, and each of its polls is one resume")
    func parksDeferred() {
        let calls = Mutexed<[Timestamp]>([])
        let bench = EngineBench(
            #"{ "id": "a", "kind": "poll" }"#, kinds: [Self.polling(4, every: .seconds(10), from: calls)],
            background: #"{ "budget": "ios" }"#)
        let life = live(bench)
        life.scheduler.take(JobID("j1"))
        #expect(bench.run { bench.job()?.ended != nil })
        #expect(bench.diary.all.count { $0.hasPrefix("resume ") } == 4)
        let last = calls.value.last ?? .epoch
        #expect((last - (calls.value.first ?? .epoch)).seconds > 4 * 10 + 60 + 120)
        life.scheduler.stop()
        #expect(bench.run { life.task.isEnded })
    }

    @Test("of jobs that are due at once, and can't all be driven, those begin first of which something expires first")
    func pressedFirst() {
        let order = Mutexed<[String]>([])
        let kind = StageKind.scripted("send", work: .transfer) { _, saved, context async throws(StageFailure) in
            let number = Int(context.facts.job.text.dropFirst()) ?? 0
            if saved == nil {
                // The later the job the sooner its upload is dropped; the first two have no such time.
                if number > 1 { context.mustAct(before: context.now + .seconds(Double(9000 - number * 1000))) }
                try await context.commit("half")
                return .waiting("half", until: .at(Timestamp(milliseconds: 1_790_001_000_000)), WaitReason(.time))
            }
            order.change { $0.append(context.facts.job.text) }
            return .finished([:])
        }
        let bench = EngineBench(#"{ "id": "a", "kind": "send" }"#, kinds: [kind])
        var limits = JobScheduler.Limits()
        limits.concurrency = 1
        let process = SimulatedProcess(bench.simulation, name: "daemon")
        let scheduler = JobScheduler(Jobs(bench, process), clock: process.clock, limits: limits)
        let task = process.lane.start { await scheduler.run() }
        for index in 0..<5 { scheduler.take(JobID("j\(index)")) }
        #expect(bench.run { (0..<5).allSatisfy { bench.job("j\($0)")?.ended != nil } })
        #expect(order.value == ["j4", "j3", "j2", "j0", "j1"])
        scheduler.stop()
        #expect(bench.run { task.isEnded })
    }

    /// A journal that takes no commits for a while, as on a full disk; what is let go meanwhile is let go at last.
    private struct FullJournal: ForwardingJournal {
        let base: any Journal
        let isFull: Mutexed<Bool>
        /// True if a job that could not be let go of is its owner's until there is room.
        let holdsOn: Bool

        func acquire(_ job: JobID, for owner: OwnerID) async throws(JournalFailure) -> Lease {
            if isFull.value, holdsOn { throw .owned(by: owner) }
            return try await base.acquire(job, for: owner)
        }

        func commit(_ changes: [JournalChange], under lease: Lease) async throws(JournalFailure) {
            if isFull.value { throw .full(folder: "/state") }
            try await base.commit(changes, under: lease)
        }
    }

    /// It was left alone for five minutes, and for good when the owner met its own hold on it.
    @Test(
        "a job of which a write was refused goes on soon after the journal takes writes again",
        arguments: [false, true])
    func goesOnAfterRefusal(holdsOn: Bool) {
        let calls = Mutexed<[Timestamp]>([])
        let bench = EngineBench(
            #"{ "id": "a", "kind": "poll" }"#, kinds: [Self.polling(20, every: .seconds(3), from: calls)],
            background: #"{ "budget": "unlimited" }"#)
        let isFull = Mutexed(false)
        let life = live(bench) { $0.journal = FullJournal(base: $0.journal, isFull: isFull, holdsOn: holdsOn) }
        life.scheduler.take(JobID("j1"))
        bench.run { calls.value.count >= 2 }
        isFull.set(true)
        bench.pass(.seconds(20))
        isFull.set(false)
        let (known, emptied) = (calls.value.count, bench.simulation.now)
        #expect(bench.run { calls.value.count > known })
        let late = (bench.simulation.now - emptied).seconds
        #expect(late < 30, "it is tried again after 5, 10 and 20 s, and went on after \(late)")
        #expect(bench.run { bench.job()?.ended != nil })
        life.scheduler.stop()
        #expect(bench.run { life.task.isEnded })
    }

    @Test("a request reaches a parked job at once")
    func knocks() {
        let calls = Mutexed<[Timestamp]>([])
        let bench = EngineBench(
            #"{ "id": "a", "kind": "poll" }"#, kinds: [Self.polling(20, every: .seconds(86_400), from: calls)])
        let life = live(bench)
        life.scheduler.take(JobID("j1"))
        bench.run { bench.state("a")?.name == .waiting }
        bench.pass(.seconds(60))
        let asked = bench.simulation.now
        let person = SimulatedLane(bench.simulation)
        person.start {
            _ = try? await bench.memory.post(.cancel, to: JobID("j1"))
            life.scheduler.knock(JobID("j1"))
        }
        #expect(bench.run { bench.job()?.ended != nil })
        #expect(bench.state("a") == .cancelled && bench.simulation.now - asked < .milliseconds(100))
        #expect(life.jobs.opened.value == 2)
        life.scheduler.stop()
        #expect(bench.run { life.task.isEnded })
    }

    /// Those that wait for a place asked again each second, were never parked, and held what the one with the place needed.
    @Test("jobs that wait for a place leave the one that has it its turn")
    func placesOfOthers() throws {
        let place = Mutexed<JobID?>(nil)
        let kind = StageKind.scripted("model") { _, saved, context async throws(StageFailure) in
            let job = context.facts.job
            if saved != nil {
                place.set(nil)
                return .finished([:])
            }
            guard place.value == nil else {
                throw .failed(
                    AttemptFailure(StepFailure("no place"), kind: .held(.full), retryAfter: .seconds(1)))
            }
            place.set(job)
            return .waiting("1", until: .at(context.now + .seconds(3)), WaitReason(.poll))
        }
        let bench = EngineBench(#"{ "id": "a", "kind": "model" }"#, kinds: [kind])
        let process = SimulatedProcess(bench.simulation, name: "owner")
        let jobs = Jobs(bench, process)
        let scheduler = JobScheduler(jobs, clock: process.clock, limits: .command(concurrency: 2))
        let task = process.lane.start { await scheduler.run() }
        for index in 1...5 { scheduler.take(JobID("j\(index)")) }
        scheduler.close()
        bench.pass(.seconds(60))
        #expect(jobs.ends.value.values.filter { $0 == .ended(.succeeded) }.count == 5)
        #expect(task.isEnded)
    }

    private struct UnreadableJournal: ForwardingJournal {
        let base: any Journal
        let isUnreadable: Mutexed<Bool>

        func snapshot(of job: JobID) async throws(JournalFailure) -> JobSnapshot? {
            if isUnreadable.value { throw .full(folder: "/state") }
            return try await base.snapshot(of: job)
        }
    }

    /// It stayed its owner's, which met its own hold on it at each try, until the process ended.
    @Test("a parked job that can't be read when its time comes is gone on with once it can")
    func unreadable() {
        let calls = Mutexed<[Timestamp]>([])
        let bench = EngineBench(
            #"{ "id": "a", "kind": "poll" }"#, kinds: [Self.polling(4, every: .seconds(600), from: calls)],
            background: #"{ "budget": "unlimited" }"#)
        let isUnreadable = Mutexed(false)
        let life = live(bench) { $0.journal = UnreadableJournal(base: $0.journal, isUnreadable: isUnreadable) }
        life.scheduler.take(JobID("j1"))
        bench.run { calls.value.count >= 2 }
        isUnreadable.set(true)
        bench.pass(.seconds(700))
        isUnreadable.set(false)
        #expect(bench.run { bench.job()?.ended != nil })
        life.scheduler.stop()
        #expect(bench.run { life.task.isEnded })
    }

    private struct NoPlan: Error, CustomStringConvertible {
        let description = "there is no plan"
    }

    @Test("a parked job that can't be made again is let go with the reason, and another process goes on with it")
    func letsGoWithoutPlan() {
        let bench = EngineBench(
            #"{ "id": "a", "kind": "poll" }"#, kinds: [Self.polling(2, every: .seconds(600), from: Mutexed([]))])
        let process = SimulatedProcess(bench.simulation, name: "daemon")
        let engine = Engine(ports: bench.ports(of: process))
        let failure = Mutexed<JournalFailure?>(nil)
        let task = process.lane.start {
            do throws(JournalFailure) {
                let job = try await engine.start(
                    bench.record(JobID("j1")), plan: try bench.plan(), mode: .background)
                _ = try await job.run(parking: .seconds(1))
                _ = try await engine.unpark(job.parked) { _ in throw NoPlan() }
            } catch {
                failure.set(error)
            }
        }
        #expect(bench.run { task.isEnded })
        #expect(failure.value == .other("job j1 can't be gone on with: there is no plan"))
        #expect(bench.end(of: bench.live()) == .success(.ended(.succeeded)))
    }

    @Test("what a person asks of a job that is just being let go is not lost")
    func knocksWhileLettingGo() {
        let leave = Mutexed<(@Sendable () -> Void)?>(nil)
        let kind = StageKind.scripted("slow") { _, _, context async throws(StageFailure) in
            guard let leaving = leave.value else { return .finished([:]) }
            do { try await context.sleepForEver() } catch {}
            leaving()
            throw .stopped
        }
        let bench = EngineBench(#"{ "id": "a", "kind": "slow" }"#, kinds: [kind])
        let life = live(bench)
        leave.set {
            // To go on, asked for while the pause is not kept yet.
            leave.set(nil)
            life.jobs.resumesPaused.set(true)
            life.scheduler.knock(JobID("j1"))
        }
        life.scheduler.take(JobID("j1"))
        bench.run { bench.state("a")?.name == .running }
        let person = SimulatedLane(bench.simulation)
        person.start {
            _ = try? await bench.memory.post(.pause, to: JobID("j1"))
            life.scheduler.knock(JobID("j1"))
        }
        #expect(bench.run { life.jobs.ends.value[JobID("j1")] == .ended(.succeeded) })
        life.scheduler.stop()
        #expect(bench.run { life.task.isEnded })
    }

    /// Items of a batch that had stopped were taken up again, and ordered after it was let go.
    @Test("a command leaves what came to rest alone when the request that paused it is heard once more")
    func knocksAfterRest() {
        let calls = Mutexed<[Timestamp]>([])
        let bench = EngineBench(
            #"{ "id": "a", "kind": "poll" }"#, kinds: [Self.polling(20, every: .seconds(600), from: calls)])
        let process = SimulatedProcess(bench.simulation, name: "command")
        let jobs = Jobs(bench, process)
        jobs.resumesPaused.set(true)
        let scheduler = JobScheduler(jobs, clock: process.clock, limits: .command(concurrency: 2))
        let task = process.lane.start { await scheduler.run() }
        scheduler.take(JobID("j1"))
        bench.run { bench.state("a")?.name == .waiting }
        let person = SimulatedLane(bench.simulation)
        person.start {
            _ = try? await bench.memory.post(.pause, to: JobID("j1"))
            scheduler.knock(JobID("j1"))
        }
        #expect(bench.run { jobs.ends.value[JobID("j1")] == .suspended(.paused) })
        let opened = jobs.opened.value
        scheduler.knock(JobID("j1"))
        bench.pass(.seconds(60))
        #expect(jobs.opened.value == opened && calls.value.count == 1)
        scheduler.close()
        #expect(bench.run { task.isEnded })
    }

    @Test("an owner that stops lets running and parked jobs go, and the next one ends them")
    func stops() {
        let calls = Mutexed<[Timestamp]>([])
        let isBusy = Mutexed(true)
        let kinds = [
            Self.polling(2, every: .seconds(600), from: calls),
            StageKind.scripted("busy") { _, _, context async throws(StageFailure) in
                if !isBusy.value { return .finished([:]) }
                do {
                    try await context.sleepForEver()
                } catch {
                    throw .stopped
                }
                return .finished([:])
            },
        ]
        let bench = EngineBench(
            #"{ "id": "a", "kind": "poll", "needs": [] }, { "id": "b", "kind": "busy", "needs": [] }"#, kinds: kinds)
        let first = live(bench, "d1")
        first.scheduler.take(JobID("j1"))
        bench.run { bench.state("a")?.name == .waiting && bench.state("b")?.name == .running }
        first.scheduler.stop()
        #expect(bench.run { first.task.isEnded })
        #expect(bench.job()?.cause == nil && bench.state("b")?.name == .waiting)
        bench.memory.lose(first.process.owner)
        isBusy.set(false)
        let second = live(bench, "d2")
        second.scheduler.take(JobID("j1"))
        #expect(bench.run { bench.job()?.outcome == .succeeded && bench.job()?.ended != nil })
        second.scheduler.stop()
        #expect(bench.run { second.task.isEnded })
    }

    @Test("a job without network rests and is taken up again; it ends when the network is back")
    func rests() {
        let isDown = Mutexed(true)
        let kind = StageKind.scripted("net") { _, _, _ async throws(StageFailure) in
            if isDown.value { throw .failed(AttemptFailure(StepFailure("no route"), kind: .silent)) }
            return .finished([:])
        }
        let bench = EngineBench(#"{ "id": "a", "kind": "net", "retry": { "for": "1h" } }"#, kinds: [kind])
        let life = live(bench)
        life.scheduler.take(JobID("j1"))
        bench.run { bench.job()?.cause == .noNetwork }
        bench.pass(.seconds(7200))
        isDown.set(false)
        #expect(bench.run { bench.job()?.ended != nil })
        life.scheduler.stop()
        #expect(bench.run { life.task.isEnded })
    }

    @Test("a closed scheduler takes no more jobs, runs as many at a time as it may, and ends with the last")
    func closes() {
        let running = Mutexed((now: 0, most: 0))
        let clock = Mutexed<VirtualClock?>(nil)
        let kind = StageKind.scripted("step") { _, saved, context async throws(StageFailure) in
            if saved != nil { return .finished([:]) }
            running.change { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
            try? await clock.value?.sleep(until: context.now + .milliseconds(100))
            running.change { $0.now -= 1 }
            return .waiting("1", until: .at(context.now + .seconds(60)), WaitReason(.time))
        }
        let bench = EngineBench(#"{ "id": "a", "kind": "step" }"#, kinds: [kind])
        let life = live(bench, limits: .command(concurrency: 4))
        clock.set(life.process.clock)
        for index in 0..<20 { life.scheduler.take(JobID("j\(index)")) }
        life.scheduler.close()
        life.scheduler.knock(JobID("other"))
        let start = bench.simulation.now
        #expect(bench.run { life.task.isEnded })
        #expect(life.jobs.ends.value.count == 20)
        #expect(life.jobs.ends.value.values.allSatisfy { $0 == .ended(.succeeded) })
        #expect(running.value.most == 4)
        #expect((bench.simulation.now - start).seconds < 70, "those that wait leave room for others")
    }

    @Test("a scheduler that suspends leaves running and parked jobs interrupted, and does not begin the others")
    func suspends() {
        let kind = StageKind.scripted("step") { _, saved, context async throws(StageFailure) in
            guard context.facts.job.text == "j0" else {
                return .waiting("1", until: .at(context.now + .seconds(600)), WaitReason(.time))
            }
            do {
                try await context.sleepForEver()
            } catch {
                throw .stopped
            }
            return .finished([:])
        }
        let bench = EngineBench(#"{ "id": "a", "kind": "step" }"#, kinds: [kind])
        let life = live(bench, limits: .command(concurrency: 1))
        // The second is begun only when the first, which never waits, is let go.
        for name in ["j1", "j0", "j2"] { life.scheduler.take(JobID(name)) }
        life.scheduler.close()
        bench.run { bench.job("j1")?.steps[StepKey(stage: "a")]?.state.name == .waiting && bench.job("j0") != nil }
        bench.run { bench.job("j0")?.steps[StepKey(stage: "a")]?.state.name == .running }
        life.scheduler.suspend(.interrupted)
        #expect(bench.run { life.task.isEnded })
        #expect(bench.job("j1")?.cause == .interrupted && bench.job("j0")?.cause == .interrupted)
        #expect(bench.job("j2") == nil)
        #expect(life.jobs.ends.value == [JobID("j1"): .suspended(.interrupted), JobID("j0"): .suspended(.interrupted)])
    }
}
