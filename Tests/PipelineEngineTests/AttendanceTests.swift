import JSONPath
import PipelineCore
import PipelineEngine
import PipelineTestKit
import Testing

/// Who waits for a job decides by which rules it is driven, in virtual time.
@Suite struct AttendanceTests {
    private static let stages = #"""
        { "id": "a", "kind": "send" }, { "id": "b", "kind": "send" }, { "id": "c", "kind": "send" }
        """#

    /// Three transfers of ten seconds, one after the other.
    private static func bench(
        interactivity: Interactivity = .unattended, mode: JobMode = .attached,
        background: String? = #"{ "budget": { "resumes": 0, "per": "1h", "base": "1h", "max": "8h" } }"#
    ) -> (bench: EngineBench, job: String) {
        BackgroundTests.bench(
            stages, kinds: [BackgroundTests.transfer("send")], background: background, mode: mode,
            interactivity: interactivity)
    }

    /// How many seconds the job takes.
    private static func seconds(_ bench: EngineBench, _ life: EngineBench.Life) -> Double {
        let start = bench.simulation.now
        #expect(bench.end(of: life) == .success(.ended(.succeeded)))
        return (bench.simulation.now - start).seconds.rounded()
    }

    private static func attendances(_ bench: EngineBench) -> Int {
        bench.memory.image.resumes.count { $0.charge == .attended }
    }

    @Test("what nobody waits for is held back as its document states, and only then")
    func rule() {
        let ios = #"{ "budget": "ios" }"#
        for (interactivity, background, isHeld) in [
            (Interactivity.attended, ios, false), (.unattended, ios, true), (.unattended, "{}", false),
        ] {
            let (bench, job) = Self.bench(interactivity: interactivity, background: background)
            let taken = Self.seconds(bench, bench.live(job: job))
            #expect(isHeld ? taken > 60 : taken == 30, "\(interactivity) \(background): \(taken) s")
            #expect(bench.memory.image.resumes.isEmpty == (interactivity == .attended))
        }
        let (unstated, job) = Self.bench(background: nil)
        #expect(Self.seconds(unstated, unstated.live(job: job)) == 30)
        #expect(unstated.memory.image.resumes.isEmpty)
    }

    @Test("a job says in its first event whether somebody waits for it")
    func event() {
        for (interactivity, mode, said) in [
            (Interactivity.attended, JobMode.attached, JSON.bool(true)), (.unattended, .attached, false),
            (.attended, .background, false),
        ] {
            let (bench, job) = Self.bench(
                interactivity: interactivity, mode: mode, background: #"{ "budget": "unlimited" }"#)
            _ = Self.seconds(bench, bench.live(job: job))
            #expect(bench.recorder.events.first { $0.kind == .jobStarted }?.data["attended"] == said)
        }
    }

    @Test("restarts that nobody attends are damped where the document states a budget; a person's ends the delay")
    func crashLoop() {
        let (bench, job) = Self.bench(
            background: #"{ "budget": { "resumes": 1, "per": "24h", "base": "1m", "factor": 2, "max": "1h" } }"#)
        for _ in 1...4 {
            let life = bench.live(job: job)
            bench.pass(.seconds(1))
            life.process.kill()
            bench.memory.lose(life.process.owner)
        }
        #expect(bench.memory.image.resumes.map(\.delay.seconds) == [0, 60, 120])
        bench.interactivity.set(.attended)
        #expect(Self.seconds(bench, bench.live(job: job)) < 31)
        #expect(Self.attendances(bench) == 1)
    }

    @Test("one that is held back between two stages is held back after a restart too")
    func heldOverRestart() {
        let (bench, job) = Self.bench()
        let first = bench.live(job: job)
        bench.pass(.seconds(60))
        #expect(bench.state("a", of: job)?.name == .succeeded && bench.state("b", of: job) == .pending)
        first.process.kill()
        bench.memory.lose(first.process.owner)
        _ = bench.live(job: job)
        bench.pass(.seconds(60))
        #expect(bench.state("b", of: job) == .pending)
        #expect(bench.memory.image.resumes.map(\.reason) == [.transferEnded, .restart])
        #expect(bench.memory.image.resumes.map(\.delay.seconds) == [3600, 7200])
    }

    @Test("taking a background job up counts as an attendance only when a person does it")
    func takingUp() {
        for interactivity in Interactivity.allCases {
            let (bench, job) = Self.bench(mode: .background)
            let first = bench.live(job: job)
            bench.pass(.seconds(60))
            first.process.kill()
            bench.memory.lose(first.process.owner)
            bench.mode.set(.attached)
            bench.interactivity.set(interactivity)
            _ = bench.live(job: job)
            bench.pass(.seconds(60))
            #expect(Self.attendances(bench) == (interactivity == .attended ? 1 : 0))
            #expect((bench.state("c", of: job)?.name == .succeeded) == (interactivity == .attended))
        }
    }

    @Test("a job that is watched goes on at once, and nothing of it is delayed for as long as somebody looks on")
    func watching() {
        let (bench, job) = Self.bench(mode: .background)
        let life = bench.live(job: job)
        bench.pass(.seconds(60))
        #expect(bench.state("b", of: job) == .pending)
        bench.isWatched.set(true)
        life.drive.value?.take(.watched(nil))
        bench.pass(.seconds(9))
        #expect(bench.state("b", of: job)?.name == .running && Self.attendances(bench) == 1)
        bench.pass(.seconds(9))
        #expect(bench.state("c", of: job)?.name == .running)
        // Nothing of it was entered meanwhile; once nobody looks on it is again.
        #expect(bench.memory.image.resumes.map(\.charge) == [.counted, .attended])
        bench.isWatched.set(false)
        #expect(bench.end(of: life) == .success(.ended(.succeeded)))
        #expect(bench.memory.image.resumes.count == 3)
    }

    @Test("a discretionary stage of a watched job does not wait for a good moment")
    func watchedMoment() {
        let (bench, job) = Self.bench(
            mode: .background, background: #"{ "discretionary": true, "budget": "unlimited" }"#)
        bench.sensors.set(DeviceConditions(hasExternalPower: true, isMetered: true, load: 0))
        let life = bench.live(job: job)
        bench.pass(.seconds(60))
        #expect(bench.state("a", of: job) == .pending)
        bench.isWatched.set(true)
        life.drive.value?.take(.watched(JobID(job)))
        #expect(Self.seconds(bench, life) == 30)
    }

    @Test("what was cancelled is brought to its end, and not held back")
    func cancelling() {
        let (bench, job) = Self.bench(mode: .background)
        let life = bench.live(job: job)
        bench.pass(.seconds(60))
        life.drive.value?.cancel()
        let asked = bench.simulation.now
        #expect(bench.end(of: life) == .success(.ended(.cancelled)))
        #expect(bench.simulation.now - asked < .seconds(1))
    }

    @Test(
        "jobs that an owner holds back begin when a person attends to one of their pipeline", arguments: [true, false])
    func others(areWatched: Bool) {
        let (bench, first) = Self.bench(mode: .background)
        let process = SimulatedProcess(bench.simulation, name: "daemon")
        let scheduler = JobScheduler(SchedulerTests.Jobs(bench, process), clock: process.clock)
        let task = process.lane.start { await scheduler.run() }
        let jobs = [first] + (1...2).map { _ in BackgroundTests.newJob(bench) }
        for job in jobs { scheduler.take(JobID(job)) }
        bench.pass(.seconds(60))
        for job in jobs {
            #expect(bench.state("a", of: job)?.name == .succeeded && bench.state("b", of: job) == .pending)
        }
        scheduler.take(.delaysReset(pipeline: "another"))
        bench.pass(.seconds(5))
        #expect(bench.state("b", of: first) == .pending)
        if areWatched { bench.isWatched.set(true) }
        scheduler.take(areWatched ? .watched(nil) : .delaysReset(pipeline: "test"))
        bench.pass(.seconds(5))
        for job in jobs { #expect(bench.state("b", of: job)?.name == .running) }
        scheduler.stop()
        #expect(bench.run { task.isEnded })
    }
}
