import JSONPath
import PipelineCore
import PipelineEngine
import PipelineTestKit
import Synchronization

/// An engine over a memory journal in virtual time, with scripted stages, and a diary of what happened in which order.
final class EngineBench: Sendable {
    typealias Script =
        @Sendable (String?, ScriptedStage.Context) async throws(StageFailure) -> ScriptedStage.Outcome

    let simulation: Simulation
    let memory: MemoryJournal
    let recorder: JournalRecorder
    let secrets: SimulatedSecrets
    let diary: Diary
    private let kinds: [StageKind]
    private let document: String
    private let slowness: Double
    private let lives = Mutex(0)
    let mode: Mutexed<JobMode>
    let interactivity: Mutexed<Interactivity>
    /// Whether a person watches the jobs on a terminal.
    let isWatched = Mutexed(false)
    /// Whom notifications reach; nil for nobody.
    private let sinks: ScriptedSinks?
    /// The machine as the rules of the background see it.
    let sensors = ScriptedConditions()

    /// `stages` is the text of the document's array, `kinds` what it may name.
    init(
        _ stages: String, kinds: [StageKind], seed: UInt64 = 1, secrets: [String: String] = [:],
        slowness: Double = 0.25, mode: JobMode = .attached, interactivity: Interactivity = .attended,
        background: String? = #"{ "budget": {} }"#, notify: String = "[]",
        sinks: ScriptedSinks? = nil
    ) {
        self.mode = Mutexed(mode)
        self.interactivity = Mutexed(interactivity)
        self.sinks = sinks
        simulation = Simulation(seed: seed)
        let diary = Diary()
        self.diary = diary
        memory = MemoryJournal(afterCommit: { _, changes in for change in changes { diary.note(change) } })
        recorder = JournalRecorder(memory)
        self.secrets = SimulatedSecrets(secrets)
        self.kinds = kinds
        self.slowness = slowness
        document =
            #"{ "pipeline": 1, "name": "test", \#(background.map { #""background": \#($0),"# } ?? "") "notify": \#(notify), "stages": [ \#(stages) ] }"#
    }

    /// One life of the program, to be run with ``end(of:)``.
    struct Life: Sendable {
        let process: SimulatedProcess
        let task: LaneTask
        let drive: Mutexed<Engine.JobHandle?>
        let end: Mutexed<Result<JobEnd, JournalFailure>?>
    }

    /// Begins the job of the id, or takes it up when the journal has it.
    func live(
        job id: String = "j1", again: RestartScope = .nothing, onlyTells: Bool = false,
        clockSetBy shift: Duration = .zero
    ) -> Life {
        let number = lives.withLock { lives in
            lives += 1
            return lives
        }
        let process = SimulatedProcess(simulation, name: "p\(number)")
        process.clock.shift(by: shift)
        let drive = Mutexed<Engine.JobHandle?>(nil)
        let end = Mutexed<Result<JobEnd, JournalFailure>?>(nil)
        let task = process.lane.start { [self] in
            do throws(JournalFailure) {
                let owned = try await take(JobID(id), process, again, onlyTells)
                drive.set(owned)
                end.set(.success(try await owned.run()))
            } catch {
                end.set(.failure(error))
            }
        }
        return Life(process: process, task: task, drive: drive, end: end)
    }

    private func take(
        _ id: JobID, _ process: SimulatedProcess, _ again: RestartScope, _ onlyTells: Bool
    ) async throws(JournalFailure) -> Engine.JobHandle {
        let engine = Engine(ports: ports(of: process))
        let plan = try plan()
        if onlyTells { return try await engine.deliverNotifications(of: id, plan: plan) }
        if recorder.job(id) != nil {
            return try await engine.resume(
                id, plan: plan, mode: mode.value, interactivity: interactivity.value, again: again)
        }
        return try await engine.start(record(id), plan: plan, mode: mode.value, interactivity: interactivity.value)
    }

    func plan() throws(JournalFailure) -> Plan {
        let planner = Planner(catalogue: Catalogue(kinds: kinds, checkDecorators: { _, _ in }))
        guard let plan = try? planner.plan(SourceText(name: "test.json", text: document)) else {
            throw .other("the document can't be planned")
        }
        return plan
    }

    func record(_ id: JobID) -> JobRecord {
        JobRecord(
            id: id, pipeline: "test", key: id.text, started: simulation.now, source: document, sourceName: "test.json",
            digest: "", inputs: [:], environment: [:], folders: JobFolders(document: "/", output: "/"),
            overwrites: false)
    }

    func ports(of process: SimulatedProcess) -> EnginePorts {
        var ports = EnginePorts(
            journal: ProcessJournal(recorder, of: process, slowness: slowness), clock: process.clock,
            randomness: simulation.randomness,
            secrets: secrets, files: NoFiles(), crashProbe: process, owner: process.owner,
            keyedHash: { bytes in "\(bytes.reduce(0) { $0 &* 31 &+ Int($1) })" },
            gate: ResumeRateLimiter(history: memory, clock: process.clock, sensors: sensors), history: memory,
            observe: { [diary] event in
                guard !process.isDead else { return }
                diary.note("publish \(event.kind.rawValue)")
                if let sent = event.data["sent"]?.number?.int { diary.note("progress \(sent)") }
            })
        ports.sinks = sinks?.of(process)
        ports.isWatched = { [isWatched] _ in isWatched.value }
        return ports
    }

    /// Runs until the life has ended.
    func end(of life: Life) -> Result<JobEnd, JournalFailure>? {
        let ending = simulation.run { life.task.isEnded }
        memory.lose(life.process.owner)
        return ending == .done ? life.end.value : nil
    }

    /// Runs until something holds, or nothing more happens.
    @discardableResult func run(until isDone: () -> Bool) -> Bool { simulation.run(until: isDone) == .done }

    /// Lets time pass.
    func pass(_ duration: Duration) {
        let isOver = Mutexed(false)
        simulation.schedule(after: duration) { isOver.set(true) }
        run { isOver.value }
    }

    func job(_ id: String = "j1") -> JobSnapshot? { recorder.job(JobID(id)) }
    func state(_ stage: String, of id: String = "j1") -> StepState? { job(id)?.steps[StepKey(stage: stage)]?.state }
}

/// A value that any thread may read and set.
final class Mutexed<Value: Sendable>: Sendable {
    private let state: Mutex<Value>
    init(_ value: Value) { state = Mutex(value) }
    var value: Value { state.withLock { $0 } }
    func set(_ value: Value) { state.withLock { $0 = value } }
    func change(_ work: @Sendable (inout Value) -> Void) { state.withLock { work(&$0) } }
}

/// What happened, in order.
final class Diary: Sendable {
    private let lines = Mutex<[String]>([])

    var all: [String] { lines.withLock { $0 } }
    func note(_ line: String) { lines.withLock { $0.append(line) } }

    func note(_ change: JournalChange) {
        switch change {
        case .step(_, let step): note("commit \(step.state.name.rawValue)")
        case .submit(_, let record): note("commit \(record.phase.rawValue)")
        case .resume(let record): note("resume \(record.reason.rawValue) \(record.step?.description ?? "-")")
        case .notification(let record): note("notification \(record.state.rawValue) \(record.event.rawValue)")
        case .event, .fact, .file, .sample, .taken, .requested, .answered, .released, .ended, .callbacksTaken,
            .callbackJudged, .callbacksVoided,
            .reopened, .measured, .item:
            break
        }
    }

    func index(of line: String) -> Int? { all.firstIndex(of: line) }
}
