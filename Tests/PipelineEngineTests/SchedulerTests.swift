import JSONPath
import PipelineCore
import PipelineEngine
import PipelineTestKit
import Testing

/// Many jobs of a background owner, in virtual time.
@Suite struct SchedulerTests {
    /// The jobs of a bench as a background owner has them.
    final class Jobs: BackgroundJobs {
        let bench: EngineBench
        let engine: Engine
        let put: Mutexed<Timestamp?>
        let asked = Mutexed<[ResumeOccasion]>([])

        init(_ bench: EngineBench, _ process: SimulatedProcess, putOffUntil time: Timestamp? = nil) {
            self.bench = bench
            engine = Engine(ports: bench.ports(of: process))
            put = Mutexed(time)
        }

        func takeUp(_ job: JobID) async throws(JournalFailure) -> Engine.JobHandle? {
            let plan = try bench.plan()
            guard let known = bench.recorder.job(job) else {
                return try await engine.start(bench.record(job), plan: plan, mode: .background)
            }
            if known.cause == .paused { return nil }
            return try await engine.resume(job, plan: plan, mode: .background)
        }

        func unpark(_ job: ParkedJob) async throws(JournalFailure) -> Engine.JobHandle {
            try await engine.unpark(job, plan: try bench.plan())
        }

        func admit(_ job: JobID, _ occasion: ResumeOccasion, at time: Timestamp) async -> ResumeAdmission {
            asked.change { $0.append(occasion) }
            guard let put = put.value, time < put else { return .now }
            return .notBefore(put)
        }

        func ended(_ job: JobID, _ result: Result<JobEnd, JournalFailure>) async {}
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

    private func live(_ bench: EngineBench, _ name: String = "daemon", putOffUntil time: Timestamp? = nil) -> Life {
        let process = SimulatedProcess(bench.simulation, name: name)
        let jobs = Jobs(bench, process, putOffUntil: time)
        let scheduler = JobScheduler(jobs, clock: process.clock)
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
        limits.drives = 1
        let process = SimulatedProcess(bench.simulation, name: "daemon")
        let scheduler = JobScheduler(Jobs(bench, process), clock: process.clock, limits: limits)
        let task = process.lane.start { await scheduler.run() }
        for index in 0..<5 { scheduler.take(JobID("j\(index)")) }
        #expect(bench.run { (0..<5).allSatisfy { bench.job("j\($0)")?.ended != nil } })
        #expect(order.value == ["j4", "j3", "j2", "j0", "j1"])
        scheduler.stop()
        #expect(bench.run { task.isEnded })
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
        #expect(life.jobs.asked.value == [.start, .knock])
        life.scheduler.stop()
        #expect(bench.run { life.task.isEnded })
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

    @Test("what is put off is asked for again at its time, and not before")
    func putsOff() {
        let calls = Mutexed<[Timestamp]>([])
        let bench = EngineBench(
            #"{ "id": "a", "kind": "poll" }"#, kinds: [Self.polling(0, every: .seconds(1), from: calls)])
        let time = bench.simulation.now + .seconds(900)
        let life = live(bench, putOffUntil: time)
        life.scheduler.take(JobID("j1"))
        #expect(bench.run { bench.job()?.ended != nil })
        #expect(calls.value.first.map { $0 >= time && $0 - time < .seconds(1) } == true)
        life.scheduler.stop()
        #expect(bench.run { life.task.isEnded })
    }
}
