import JSONPath
import PipelineCore
import PipelineEngine
import PipelineHTTP
import PipelineStages
import PipelineTestKit
import Synchronization

/// One scenario under one seed: a machine whose processes die and come back, a network, a service, a journal.
final class World: Sendable {
    /// How a life of the program ended.
    enum LifeEnd: Sendable, Hashable {
        case ended(JobEnd)
        case failed(JournalFailure)
        case notPlanned(String)
    }

    static let token = "S3CRET-0f8a61"
    /// How the token must not be written: plain (and, of these characters, URL-encoded), and in base64.
    static let forbidden = [token, "UzNDUkVULTBmOGE2M"]

    let scenario: Scenario
    let simulation: Simulation
    let network: SimulatedNetwork
    let server: ModelServer
    let memory = MemoryJournal()
    let recorder: JournalRecorder
    let secrets = SimulatedSecrets(["TOKEN": World.token])
    let flaw: EngineFlaw
    /// Whom notifications reach: a slow sink that fails now and then.
    let sinks: ScriptedSinks
    /// The lives that were killed.
    private let killed = Mutex<Set<OwnerID>>([])
    let record: JobRecord
    /// Where its files are; nil for a scenario without.
    let folder: ScenarioFolder?

    /// What was wrong with what observers were told.
    var publicationViolations: [String] { publications.withLock { $0 } }
    private let publications = Mutex<[String]>([])
    /// What the machine's clock was set by, beside the time that passes.
    private let clockShift = Mutex(Duration.zero)
    private let living = Mutex<SimulatedProcess?>(nil)
    /// The stage from which a person wants an ended job done again.
    private let restart = Mutex<String?>(nil)

    /// The drive of the process that lives, to ask things of it from outside.
    private let drive = Mutex<Engine.JobHandle?>(nil)

    init(_ scenario: Scenario, seed: UInt64, keepsTrace: Bool = false, flaw: EngineFlaw = .none) {
        self.scenario = scenario
        self.flaw = flaw
        let simulation = Simulation(seed: seed, keepsTrace: keepsTrace)
        self.simulation = simulation
        sinks = ScriptedSinks { _, earlier, process async throws(NotificationFailure) in
            try await Self.take(after: earlier, in: simulation, process)
        }
        network = SimulatedNetwork(simulation)
        let recorder = JournalRecorder(flaw.below(memory))
        self.recorder = recorder
        server = ModelServer(simulation) { recorder.violation(ofSubmit: $0, from: $1) }
        folder = scenario.files.isEmpty ? nil : try? ScenarioFolder()
        let path = folder?.path ?? "/"
        let document = scenario.document.replacing("FOLDER", with: path)
        let id = JobID(at: simulation.now, random: (7, seed))
        record = JobRecord(
            id: id, pipeline: "simulated", key: id.text, started: simulation.now, source: document,
            sourceName: "simulated.json", digest: "", inputs: [:], environment: [:],
            folders: JobFolders(document: path, output: path), overwrites: false)
        if scenario.isCalledBack { server.onBegin { [self] in callBack(at: $0) } }
    }

    /// What a service does that sends its result when a job has ended, now and then twice, and now and then before its
    /// answer to the submit has arrived; a callback of another job may come to the same address then.
    private func callBack(at job: ModelServer.RemoteJob) {
        let random = simulation.randomness
        for _ in 0...random.number(in: 0...2) {
            let isInstant = random.chance(0.3)
            let delay = isInstant ? .zero : job.ends - job.begun
            simulation.schedule(after: delay + random.milliseconds(0...(isInstant ? 20 : 5000))) { [self] in
                SimulatedLane(simulation).start { [self] in
                    await callBack(id: "another than \(job.id)", value: "another's", for: job)
                    await callBack(id: job.id, value: ModelServer.output(of: job.input), for: job)
                }
            }
        }
    }

    /// Keeps a callback as the receiver does: one whose 'match' can't be judged yet with what it is judged by.
    private func callBack(id: String, value: String, for job: ModelServer.RemoteJob) async {
        let submits = recorder.job(record.id)?.submits ?? [:]
        guard let (step, submit) = submits.first(where: { $0.value.key == job.tag }) else { return }
        let isEarly = submit.phase != .submitted
        guard isEarly || id == job.id else { return }
        let response: JSON = ["status": 200, "headers": [:], "body": ["id": .string(id)]]
        let callback = Callback(
            id: id, time: simulation.now, captures: ["value": .string(value)],
            response: isEarly ? .some(response) : .none)
        _ = try? await memory.post(callback, to: step, of: record.id)
        drive.withLock { $0 }?.checkInbox()
    }

    /// Starts a life of the program: it begins the job when the journal does not know it, else takes it up.
    func live(_ process: SimulatedProcess, result: LifeResult) -> LaneTask {
        process.clock.shift(by: clockShift.withLock { $0 })
        living.withLock { $0 = process }
        let task = process.lane.start { [self] in
            let end = await life(of: process)
            simulation.note("\(process.owner.text) ended: \(end)")
            result.set(end)
        }
        process.onDeath { [simulation, self] in
            simulation.note("\(process.owner.text) was killed")
            self.killed.withLock { _ = $0.insert(process.owner) }
            task.cancel()
        }
        return task
    }

    /// What a command in another process does: leaves a request in the journal and wakes the owner.
    func ask(_ request: JobRequest) {
        let person = SimulatedLane(simulation)
        person.start { [self] in
            _ = try? await memory.post(request, to: record.id)
            drive.withLock { $0 }?.checkInbox()
        }
    }

    /// Sets the machine's clock, as an administrator or a time server does.
    func setClock(by duration: Duration) {
        simulation.note("the clock is set by \(duration)")
        clockShift.withLock { $0 += duration }
        living.withLock { $0 }?.clock.shift(by: duration)
    }

    /// What a service does that pushes, rightly or not: the journal keeps it, the owner is told.
    func push(_ id: String) {
        let service = SimulatedLane(simulation)
        service.start { [self] in
            guard let steps = recorder.job(record.id)?.steps.keys.sorted() else { return }
            for step in steps {
                _ = try? await memory.post(Callback(id: id, time: simulation.now), to: step, of: record.id)
            }
            drive.withLock { $0 }?.checkInbox()
        }
    }

    /// Returns whether the life was ended from outside.
    func wasKilled(_ process: SimulatedProcess) -> Bool { killed.withLock { $0.contains(process.owner) } }

    func noteKilled(_ process: SimulatedProcess) { killed.withLock { _ = $0.insert(process.owner) } }
    func note(_ law: PublicationLaw) { publications.withLock { $0 += law.violations } }

    /// True if somebody is still to be told of the job.
    var isUntold: Bool { recorder.job(record.id)?.nextTelling != nil }

    /// A sink that takes its time, hangs now and then, and fails as long as it has failed seldom.
    private static func take(
        after earlier: Int, in simulation: Simulation, _ process: SimulatedProcess
    ) async throws(NotificationFailure) {
        let random = simulation.randomness
        let pause: Duration = random.chance(0.03) ? .seconds(3600) : random.milliseconds(0...4000)
        let fails = earlier < 6 && random.chance(0.2)
        process.pass(.pollAnswered)
        guard (try? await process.clock.sleep(until: process.clock.now + pause)) != nil, !process.isDead, !fails else {
            throw NotificationFailure("the sink is busy", isRetryable: true)
        }
    }

    /// Has the ended job done again from the stage on, by the lives that come.
    func restart(from stage: String) { restart.withLock { $0 = stage } }

    /// Settles every unknown submit as a person does who looks at the service.
    func resolve(by process: SimulatedProcess) -> LaneTask {
        process.lane.start { [self] in
            let engine = engine(of: process)
            guard let job = recorder.job(record.id),
                let plan = try? plan(for: process, { _ in })
            else { return }
            for (key, step) in job.steps.sorted(by: { $0.key < $1.key }) where step.state.name == .unknown {
                let tag = job.submits[key]?.key
                let found = server.jobs.first { $0.tag == tag }
                let resolution: Resolution = found.map { .found(["id": .string($0.id)]) } ?? .resubmit
                simulation.note("a person settles \(key): \(resolution)")
                try? await engine.resolve(record.id, key, plan: plan, as: resolution)
            }
        }
    }

    /// Lets go of everything that would keep this world alive.
    func end() {
        server.onBegin(nil)
        living.withLock { $0 = nil }
        drive.withLock { $0 = nil }
        simulation.end()
    }

    private func life(of process: SimulatedProcess) async -> LifeEnd {
        let law = PublicationLaw(recorder, of: process.owner)
        defer { publications.withLock { $0 += law.violations } }
        let plan: Plan
        do throws(DefinitionError) {
            plan = try self.plan(for: process, law.call)
        } catch {
            return .notPlanned("\(error)")
        }
        law.note(plan)
        do throws(JournalFailure) {
            let engine = engine(of: process, law)
            let isKnown = recorder.job(record.id) != nil
            let drive: Engine.JobHandle =
                if restart.withLock({ $0 }) == nil, let job = recorder.job(record.id), job.ended != nil, isUntold {
                    try await engine.deliverNotifications(of: record.id, plan: plan)
                } else if isKnown {
                    try await engine.resume(
                        record.id, plan: plan, mode: .attached, again: again, overwrites: restart.withLock { $0 } != nil
                    )
                } else {
                    try await engine.start(record, plan: plan, mode: .attached)
                }
            // One that was stopped while it began is no longer whom others reach.
            if living.withLock({ $0 }) === process { self.drive.withLock { $0 = drive } }
            process.onDeath { drive.suspend(.interrupted) }
            let end = try await drive.run()
            if !process.isDead { law.end() }
            return .ended(end)
        } catch {
            return .failed(error)
        }
    }

    /// A job that has ended is done again only when a person wants it.
    private var again: RestartScope {
        guard recorder.job(record.id)?.ended != nil, let stage = restart.withLock({ $0 }) else { return .nothing }
        return .from(stage)
    }

    /// The job's plan, as a process that reads its document has it.
    ///
    /// - Parameter note: told of each call of a stage.
    func plan(
        for process: SimulatedProcess, _ note: @escaping @Sendable (StageFacts) -> Void
    ) throws(DefinitionError) -> Plan {
        let transport = SimulatedTransport(of: process, over: network, to: server)
        let decorators = DecoratorCatalogue.standard
        let standard = StandardStages.kinds(network: Network(transport: transport), decorators: decorators)
        let catalogue = Catalogue(
            kinds: (standard + [.ledger(over: transport, flaw: flaw.stage)]).map { $0.noting(note) },
            checkDecorators: { decorators.check($0, findings: $1) })
        return try Planner(catalogue: catalogue).plan(SourceText(name: "simulated.json", text: record.source))
    }

    private func engine(of process: SimulatedProcess, _ law: PublicationLaw? = nil) -> Engine {
        let journal = flaw.above(ProcessJournal(recorder, of: process), process)
        let observe = { @Sendable [self] (event: JobEvent) in self.observe(event, by: process, law) }
        if flaw.isLoud {
            let loud = LoudJournal(journal, observe: observe)
            return engine(of: process, over: loud) { if $0.sequence == nil { observe($0) } }
        }
        return engine(of: process, over: journal, observe: observe)
    }

    func engine(
        of process: SimulatedProcess, over journal: any Journal, observe: @escaping @Sendable (JobEvent) -> Void
    ) -> Engine {
        var ports = EnginePorts(
            journal: journal, clock: process.clock, randomness: simulation.randomness, secrets: secrets,
            files: NoFiles(), crashProbe: process, owner: process.owner, keyedHash: { "\($0.count)" },
            observe: observe)
        ports.sinks = sinks.of(process)
        ports.callbackURL = { job, step, _ in "http://us/callbacks/\(job)/\(step)" }
        return Engine(ports: ports)
    }

    func observe(_ event: JobEvent, by process: SimulatedProcess, _ law: PublicationLaw?) {
        guard !process.isDead else { return }
        law?.tell(event)
        let step = event.step.map { " \($0)" } ?? ""
        simulation.note("\(process.owner.text) \(event.kind.rawValue)\(step) \(JSON.object(event.data).text)")
    }
}

/// Where a life leaves how it ended.
final class LifeResult: Sendable {
    private let end = Mutex<World.LifeEnd?>(nil)
    func set(_ value: World.LifeEnd) { end.withLock { $0 = value } }
    var value: World.LifeEnd? { end.withLock { $0 } }
}
