import JSONPath
import PipelineCore
import PipelineTestKit
import Testing

@testable import PipelineEngine

/// What jobs learn from others of their stage that have not ended.
@Suite struct RunningHistoryTests {
    @Test("a job that begins knows for how long others of its stage have run, and never counts itself")
    func learns() throws {
        let seen = Mutexed<[JobID: [StageOutlook]]>([:])
        let kind = StageKind.scripted("model", work: .remoteJob(submits: false, isPushed: false)) {
            _, saved, context async throws(StageFailure) in
            let facts = context.facts
            seen.change { $0[facts.job, default: []].append(facts.outlook()) }
            let polls = saved.flatMap { Int($0) } ?? 0
            if polls == 3 { return .finished([:]) }
            return .waiting("\(polls + 1)", until: .at(context.now + .seconds(10)), WaitReason(.poll))
        }
        let bench = EngineBench(#"{ "id": "a", "kind": "model" }"#, kinds: [kind])
        let process = SimulatedProcess(bench.simulation, name: "owner")
        let scheduler = JobScheduler(
            SchedulerTests.Jobs(bench, process), clock: process.clock, limits: .command(concurrency: 8))
        let task = process.lane.start { await scheduler.run() }
        scheduler.take(JobID("j1"))
        bench.pass(.seconds(25))
        scheduler.take(JobID("j2"))
        scheduler.close()
        #expect(bench.run { task.isEnded })
        let first = try #require(seen.value[JobID("j1")])
        #expect(first.allSatisfy { outlook in !outlook.durations.contains { $0.isRunning && $0.seconds > 11 } })
        let second = try #require(seen.value[JobID("j2")]?.first)
        #expect(second.durations.map(\.isRunning) == [true])
        #expect(second.durations.first.map { $0.seconds >= 20 && $0.seconds < 23 } == true, "\(second.durations)")
        let last = try #require(seen.value[JobID("j2")]?.last)
        #expect(last.durations.map(\.isRunning) == [false], "the first has ended meanwhile")
    }

    @Test("of many samples jobs of one kind share what was made of them, until a sixteenth are others")
    func shares() async throws {
        func sample(_ seconds: Double) -> StageSample {
            StageSample(
                pipeline: "p", stage: "s", ended: Timestamp(milliseconds: Int64(seconds) * 1000), seconds: seconds)
        }
        let cache = DurationHistoryCache(MemoryJournal(), owner: OwnerID("me"))
        func outlook(size: Double? = nil) -> StageOutlook? {
            cache.outlook(of: "p", stage: "s", subject: nil, size: size, guess: nil, besides: JobID("j"))
        }
        #expect(outlook() == nil, "nothing was read")
        _ = await cache.samples(of: "p", at: .epoch)
        for second in 1...47 { cache.add(sample(Double(second))) }
        let counts = (48...52).map { second in
            defer { cache.add(sample(Double(second))) }
            return outlook()?.durations.count
        }
        #expect(counts == [47, 47, 49, 49, 49])
        #expect(outlook(size: 2)?.durations.count == 52, "another case is another outlook")
        #expect(outlook()?.durations.count == 52)
    }

    @Test("what is foretold of a job is kept with its sample though others have just begun")
    func foretold() throws {
        let kind = StageKind.scripted("model", work: .remoteJob(submits: false, isPushed: false)) {
            _, saved, context async throws(StageFailure) in
            let polls = saved.flatMap { Int($0) } ?? 0
            if polls == 4 { return .finished([:]) }
            let pause = polls == 0 ? Duration.milliseconds(50) : .seconds(10)
            return .waiting("\(polls + 1)", until: .at(context.now + pause), WaitReason(.poll))
        }
        let bench = EngineBench(#"{ "id": "a", "kind": "model" }"#, kinds: [kind])
        let process = SimulatedProcess(bench.simulation, name: "owner")
        let scheduler = JobScheduler(
            SchedulerTests.Jobs(bench, process), clock: process.clock, limits: .command(concurrency: 8))
        let task = process.lane.start { await scheduler.run() }
        scheduler.take(JobID("j1"))
        bench.pass(.seconds(40))
        for index in 2...6 {
            scheduler.take(JobID("j\(index)"))
            bench.pass(.milliseconds(200))
        }
        scheduler.close()
        #expect(bench.run { task.isEnded })
        let samples = bench.memory.image.samples
        #expect(samples.count == 6 && samples.count { $0.p50 != nil } == 5, "\(samples.map(\.p50))")
        #expect(samples.allSatisfy { $0.subject == "model" && !$0.isRunning })
    }

    @Test("what begins with a job is foretold too, once the job is journaled")
    func foretoldAtOnce() throws {
        let kind = StageKind.scripted("model", work: .remoteJob(submits: false, isPushed: false)) {
            _, saved, context async throws(StageFailure) in
            if saved != nil { return .finished([:]) }
            return .waiting("1", until: .at(context.now + .seconds(10)), WaitReason(.poll))
        }
        let bench = EngineBench(#"{ "id": "a", "kind": "model" }"#, kinds: [kind])
        #expect(bench.end(of: bench.live(job: "j1")) == .success(.ended(.succeeded)))
        #expect(bench.end(of: bench.live(job: "j2")) == .success(.ended(.succeeded)))
        let samples = bench.memory.image.samples
        #expect(samples.map { $0.p50 != nil } == [false, true])
        let published = bench.diary.all.filter { $0.hasPrefix("publish ") }
        let began = try #require(published.lastIndex(of: "publish job.started"))
        let foretold = try #require(published.firstIndex(of: "publish estimate.changed"))
        #expect(began < foretold, "\(published)")
    }

    /// Each poll made an estimate anew, and told it, of a job that had begun before anything was known.
    @Test("what is known only after a job began is foretold once, not at each of its polls")
    func foretoldOnce() throws {
        let kind = StageKind.scripted("model", work: .remoteJob(submits: false, isPushed: false)) {
            _, saved, context async throws(StageFailure) in
            let polls = saved.flatMap { Int($0) } ?? 0
            if polls == (context.facts.job == JobID("j1") ? 1 : 8) { return .finished([:]) }
            return .waiting("\(polls + 1)", until: .at(context.now + .seconds(10)), WaitReason(.poll))
        }
        let bench = EngineBench(#"{ "id": "a", "kind": "model" }"#, kinds: [kind])
        let process = SimulatedProcess(bench.simulation, name: "owner")
        let scheduler = JobScheduler(
            SchedulerTests.Jobs(bench, process), clock: process.clock, limits: .command(concurrency: 8))
        let task = process.lane.start { await scheduler.run() }
        for name in ["j1", "j2"] { scheduler.take(JobID(name)) }
        scheduler.close()
        #expect(bench.run { task.isEnded })
        let told = bench.diary.all.filter { $0 == "publish estimate.changed" }
        #expect((1...2).contains(told.count), "of the step and of its job: \(told.count)")
    }
}
