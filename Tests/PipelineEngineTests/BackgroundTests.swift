import JSONPath
import PipelineCore
import PipelineEngine
import PipelineTestKit
import Testing

/// Jobs that no person waits for, in virtual time.
@Suite struct BackgroundTests {
    /// A transfer that takes a while.
    static func transfer(_ name: String, seconds: Double = 10) -> StageKind {
        StageKind.scripted(name, work: .transfer) { _, _, context async throws(StageFailure) in
            try await pause(context, seconds)
            return .finished([:])
        }
    }

    /// A remote job: its submit is answered after a second, its end found by so many polls.
    private static func remote(_ name: String, polls: Int, every pause: Duration = .seconds(60)) -> StageKind {
        let work = BackgroundWork.remoteJob(submits: true, isPushed: false)
        return StageKind.scripted(name, work: work) { _, saved, context async throws(StageFailure) in
            let count = saved.flatMap { Int($0) } ?? 0
            if count == 0 {
                _ = try await context.submit(body: []) { _ async throws(StageFailure) in
                    try await Self.pause(context, 1)
                    return .accepted([:])
                } reconcile: { _ async throws(StageFailure) in
                    .resend
                }
            }
            if count == polls { return .finished([:]) }
            return .waiting("\(count + 1)", until: .at(context.now + pause), WaitReason(.poll))
        }
    }

    /// Time is what the simulation's clock says, by way of a stage's own waits.
    private static func pause(_ context: ScriptedStage.Context, _ seconds: Double) async throws(StageFailure) {
        do {
            try await clocks.value[context.facts.job.text]?.sleep(until: context.now + .seconds(seconds))
        } catch {
            throw .stopped
        }
    }

    private static let clocks = Mutexed<[String: VirtualClock]>([:])

    static func bench(
        _ stages: String, kinds: [StageKind], background: String?, mode: JobMode = .background,
        interactivity: Interactivity = .attended
    ) -> (bench: EngineBench, job: String) {
        let bench = EngineBench(
            stages, kinds: kinds, slowness: 0, mode: mode, interactivity: interactivity, background: background)
        return (bench, newJob(bench))
    }

    /// The name of a further job, whose transfers go by the bench's time.
    static func newJob(_ bench: EngineBench) -> String {
        let job = "j\(bench.simulation.randomness.bits())-\(clocks.value.count)"
        clocks.change { $0[job] = VirtualClock(bench.simulation) }
        return job
    }

    private static let selfie = #"""
        { "id": "upload", "kind": "send" }, { "id": "model", "kind": "compute" }, { "id": "download", "kind": "fetch" }
        """#
    private static let selfieKinds = [
        transfer("send"), remote("compute", polls: 1), transfer("fetch"),
    ]

    private static func resumes(_ bench: EngineBench) -> [String] {
        bench.diary.all.filter { $0.hasPrefix("resume ") }.map { String($0.dropFirst(7)) }
    }

    @Test("an upload, a submit, one poll and a download are four resumes, each with its reason")
    func selfieFlow() throws {
        let (bench, job) = Self.bench(Self.selfie, kinds: Self.selfieKinds, background: #"{ "budget": "unlimited" }"#)
        #expect(bench.end(of: bench.live(job: job)) == .success(.ended(.succeeded)))
        #expect(
            Self.resumes(bench) == [
                "transferEnded upload", "submitAnswered model", "poll model", "transferEnded download",
            ])
        let counts = ["upload", "model", "download"].map { bench.job(job)?.steps[StepKey(stage: $0)]?.resumes }
        #expect(counts == [1, 2, 1])
    }

    @Test("resumes are counted alike when a person waits, and nothing is entered or delayed")
    func attended() {
        let (bench, job) = Self.bench(
            Self.selfie, kinds: Self.selfieKinds, background: #"{ "budget": "ios" }"#, mode: .attached)
        let start = bench.simulation.now
        #expect(bench.end(of: bench.live(job: job)) == .success(.ended(.succeeded)))
        #expect(Self.resumes(bench).isEmpty)
        let counts = ["upload", "model", "download"].map { bench.job(job)?.steps[StepKey(stage: $0)]?.resumes }
        #expect(counts == [1, 2, 1])
        #expect(bench.simulation.now - start < .seconds(90))
    }

    @Test("under a phone's budget what follows is deferred, what ended is journaled at once")
    func deferred() throws {
        let (bench, job) = Self.bench(Self.selfie, kinds: Self.selfieKinds, background: #"{ "budget": "ios" }"#)
        let start = bench.simulation.now
        let life = bench.live(job: job)
        bench.run { bench.state("upload", of: job)?.name == .succeeded }
        #expect(bench.simulation.now - start < .seconds(11))
        bench.run { bench.state("model", of: job)?.name == .running }
        #expect((bench.simulation.now - start).seconds.rounded() == 70)
        #expect(bench.end(of: life) == .success(.ended(.succeeded)))
        let events = bench.memory.image.events(of: JobID(job)).filter { $0.kind == .resumeDeferred }
        let delays = events.compactMap { $0.data["delay"]?.number?.double }
        #expect(delays == [60, 240])
        #expect(events.allSatisfy { $0.data["until"]?.string != nil && $0.data["reason"]?.string != nil })
        // 10 s, 60 s, 1 s, 60 s until the poll is due, 240 s, 10 s.
        #expect((bench.simulation.now - start).seconds.rounded() == 381)
    }

    @Test("transfers of one job that end together are one resume")
    func together() {
        let stages = #"""
            { "id": "a", "kind": "send", "needs": [] }, { "id": "b", "kind": "send", "needs": [] },
            { "id": "c", "kind": "send", "needs": [] }, { "id": "end", "kind": "fetch", "needs": ["a", "b", "c"] }
            """#
        let (bench, job) = Self.bench(
            stages, kinds: [Self.transfer("send"), Self.transfer("fetch")],
            background: #"{ "budget": "unlimited", "tolerance": "5s" }"#)
        #expect(bench.end(of: bench.live(job: job)) == .success(.ended(.succeeded)))
        let charges = bench.memory.image.resumes.filter { $0.charge == .counted }
        #expect(charges.count == 2)
    }

    @Test("a process that starts again is a resume in the ledger, and its rows hold over the crash")
    func restart() throws {
        let (bench, job) = Self.bench(
            #"{ "id": "model", "kind": "compute" }"#, kinds: [Self.remote("compute", polls: 3, every: .seconds(10))],
            background: #"{ "budget": { "resumes": 1, "per": "1h", "base": "20s", "factor": 2, "max": "10m" } }"#)
        let first = bench.live(job: job)
        bench.run { !bench.memory.image.resumes.isEmpty }
        first.process.kill()
        bench.memory.lose(first.process.owner)
        bench.pass(.seconds(1))
        #expect(bench.end(of: bench.live(job: job)) == .success(.ended(.succeeded)))
        let rows = bench.memory.image.resumes
        #expect(rows.map(\.reason) == [.submitAnswered, .restart, .poll, .poll])
        #expect(rows.map(\.delay.seconds) == [0, 20, 40, 80])
    }

    @Test(
        "a discretionary stage waits for a good moment and begins when it comes",
        arguments: ["true", #""${{ job.id != 'x' }}""#])
    func discretionary(flag: String) {
        let (bench, job) = Self.bench(
            #"{ "id": "upload", "kind": "send", "discretionary": \#(flag) }"#, kinds: [Self.transfer("send")],
            background: "{}")
        bench.sensors.set(DeviceConditions(hasExternalPower: true, isMetered: true, load: 0))
        let start = bench.simulation.now
        let life = bench.live(job: job)
        bench.pass(.seconds(3600))
        #expect(bench.state("upload", of: job) == .pending)
        let deferrals = bench.memory.image.events(of: JobID(job)).filter { $0.kind == .resumeDeferred }
        #expect(deferrals.first?.data["reason"] == "the network is metered")
        bench.sensors.set(DeviceConditions(hasExternalPower: true, isMetered: false, load: 0))
        #expect(bench.end(of: life) == .success(.ended(.succeeded)))
        #expect(bench.simulation.now - start <= .seconds(3600 + 900 + 15))
    }

    /// A stage that ends at once with a link that is good for ten minutes.
    private static let linking = StageKind.scripted("link", captures: ["url"]) {
        _, _, context async throws(StageFailure) in
        let seconds = (context.now + .seconds(600)).milliseconds / 1000
        return .finished(["url": .string("https://store.test/a?Expires=\(seconds)&Signature=x")])
    }

    @Test("a link that expires ends the wait for a good moment before it does")
    func expiringLink() {
        let (bench, job) = Self.bench(
            #"""
            { "id": "link", "kind": "link" },
            { "id": "download", "kind": "fetch", "discretionary": true, "reading": "${{ stages.link.url }}" }
            """#, kinds: [Self.linking, Self.transfer("fetch")], background: "{}")
        bench.sensors.set(DeviceConditions(hasExternalPower: false, battery: 0.05, isMetered: true, load: 9))
        let start = bench.simulation.now
        #expect(bench.end(of: bench.live(job: job)) == .success(.ended(.succeeded)))
        let taken = (bench.simulation.now - start).seconds
        #expect(taken > 400 && taken < 600, "\(taken)")
    }

    @Test("a resume whose delay would outlast a link comes sooner, and is entered as such")
    func expedited() {
        let (bench, job) = Self.bench(
            #"""
            { "id": "link", "kind": "link" }, { "id": "upload", "kind": "send", "needs": [] },
            { "id": "download", "kind": "fetch", "needs": ["upload"], "reading": "${{ stages.link.url }}" }
            """#, kinds: [Self.linking, Self.transfer("send"), Self.transfer("fetch")],
            background: #"{ "budget": { "resumes": 0, "per": "1h", "base": "30m", "factor": 2, "max": "1h" } }"#)
        let start = bench.simulation.now
        #expect(bench.end(of: bench.live(job: job)) == .success(.ended(.succeeded)))
        let first = bench.memory.image.resumes.first
        #expect(first?.charge == .expedited && first?.step?.stage == "upload")
        #expect((bench.simulation.now - start).seconds < 600)
    }

    @Test("a discretionary stage that never sees a good moment begins after a day")
    func nothingStarves() {
        let (bench, job) = Self.bench(
            #"{ "id": "upload", "kind": "send", "discretionary": true }"#, kinds: [Self.transfer("send")],
            background: "{}")
        bench.sensors.set(DeviceConditions(hasExternalPower: false, battery: 0.05, isMetered: true, load: 9))
        let start = bench.simulation.now
        #expect(bench.end(of: bench.live(job: job)) == .success(.ended(.succeeded)))
        #expect((bench.simulation.now - start - .seconds(86_400)).seconds < 20)
    }

    @Test("a job that is stopped while it is held back is let go at once")
    func stoppedWhileHeld() {
        let (bench, job) = Self.bench(Self.selfie, kinds: Self.selfieKinds, background: #"{ "budget": "ios" }"#)
        let life = bench.live(job: job)
        bench.run { bench.state("upload", of: job)?.name == .succeeded }
        life.drive.value?.suspend(.interrupted)
        let asked = bench.simulation.now
        #expect(bench.end(of: life) == .success(.suspended(.interrupted)))
        #expect(bench.simulation.now - asked < .seconds(1))
    }
}
