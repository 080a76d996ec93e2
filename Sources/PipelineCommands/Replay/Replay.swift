import CLibrary
import Dispatch
import JSONPath
import PipelineCore
import PipelineEngine
import PipelineHTTP
import PipelineKit
import PipelineStages
import PipelineSimulation
import Synchronization

/// Runs a document through the real engine against a recording: in virtual time, the journal in memory, no network.
struct Replay {
    /// The point at which a run is killed.
    struct Crash: Sendable, Hashable {
        let point: CrashPoint
        /// The pass of it, from 1.
        let pass: Int
    }

    /// The outcome of a run.
    struct Outcome: Sendable {
        /// `succeeded`, `failed`, `unknown`, or why it did not end.
        let end: String
        let failure: String?
        let requests: [ReplayService.Request]
        /// The places of exchanges that nothing asked for.
        let left: [Int]
        /// The digests of the files that were written, by name.
        let files: [String: String]
        /// The number of times that each crash point was passed.
        let passes: [CrashPoint: Int]
    }

    let recording: Recording
    let record: JobRecord
    let secrets: [String: String]
    let secretInputs: JSONObject
    let catalogue: @Sendable (Network) -> Catalogue
    /// Returns whether a program of a plugin runs: it does so in real time.
    let runsProgram: @Sendable () -> Bool

    /// Runs it once; with a crash a first process is killed there, and a second one goes on.
    ///
    /// On a thread of its own: what a program says is heard on those of tasks, of which there may be one.
    func run(crash: Crash? = nil) async -> Outcome {
        await withCheckedContinuation { continuation in
            DispatchQueue(label: "replay").async { continuation.resume(returning: runHere(crash: crash)) }
        }
    }

    private func runHere(crash: Crash?) -> Outcome {
        ReplayFolder.remove(record.folders.output)
        mkdir(record.folders.output, 0o700)
        defer { ReplayFolder.remove(record.folders.output) }
        let simulation = Simulation(seed: 1, start: recording.started)
        defer { simulation.end() }
        let service = ReplayService(recording, redactor: Redactor(secrets))
        let memory = MemoryJournal()
        let world = ReplayWorld(
            replay: self, simulation: simulation, network: SimulatedNetwork(simulation), service: service,
            memory: memory, callbacks: recording.exchanges.filter { $0.callback != nil })
        let first = ReplayProbe(crash)
        var end = world.live("first", first)
        if crash != nil, first.hasFired { end = world.live("second", ReplayProbe(nil)) }
        let snapshot = memory.image.snapshot(of: record.id)
        let failure = snapshot?.failure?.failure
        return Outcome(
            end: end, failure: failure.map { [$0.title, $0.hint].compactMap(\.self).joined(separator: "; ") },
            requests: service.requests, left: service.left, files: files(snapshot), passes: first.passes)
    }

    private func files(_ snapshot: JobSnapshot?) -> [String: String] {
        Self.digests(of: snapshot?.files ?? [], below: record.folders.output)
    }

    /// The digests of files, by their names below a folder.
    static func digests(of files: [WrittenFile], below folder: String) -> [String: String] {
        var digests: [String: String] = [:]
        for file in files {
            let name = file.path.hasPrefix(folder + "/") ? String(file.path.dropFirst(folder.count + 1)) : file.path
            digests[name] = (try? FileDigest.hex(.sha256, of: file.path)) ?? "unreadable"
        }
        return digests
    }
}

/// Counts the passes of crash points, and kills its process at one of them.
private final class ReplayProbe: CrashProbe {
    private struct State {
        var passes: [CrashPoint: Int] = [:]
        var process: SimulatedProcess?
        var hasFired = false
    }

    private let crash: Replay.Crash?
    private let state = Mutex(State())

    init(_ crash: Replay.Crash?) { self.crash = crash }

    var passes: [CrashPoint: Int] { state.withLock { $0.passes } }
    var hasFired: Bool { state.withLock { $0.hasFired } }

    func watch(_ process: SimulatedProcess) { state.withLock { $0.process = process } }

    func pass(_ point: CrashPoint) {
        let victim: SimulatedProcess? = state.withLock { state in
            state.passes[point, default: 0] += 1
            guard let crash, !state.hasFired, crash.point == point, crash.pass == state.passes[point] else {
                return nil
            }
            state.hasFired = true
            return state.process
        }
        victim?.kill()
    }
}

/// The lives of a replayed job.
private final class ReplayWorld: Sendable {
    private let replay: Replay
    private let simulation: Simulation
    private let network: SimulatedNetwork
    private let service: ReplayService
    private let memory: MemoryJournal
    private let callbacks: Mutex<[Recording.Exchange]>
    private let handle = Mutex<Engine.JobHandle?>(nil)

    init(
        replay: Replay, simulation: Simulation, network: SimulatedNetwork, service: ReplayService,
        memory: MemoryJournal, callbacks: [Recording.Exchange]
    ) {
        self.replay = replay
        self.simulation = simulation
        self.network = network
        self.service = service
        self.memory = memory
        self.callbacks = Mutex(callbacks)
    }

    /// One life of the program; how it ended.
    func live(_ name: String, _ probe: ReplayProbe) -> String {
        let process = SimulatedProcess(simulation, name: name)
        probe.watch(process)
        let plan: Plan
        do throws(DefinitionError) {
            plan = try Planner(catalogue: replay.catalogue(network(of: process))).plan(
                SourceText(name: replay.record.sourceName, text: replay.record.source))
        } catch {
            return "the document is wrong"
        }
        let end = Mutex("nothing")
        let isKnown = memory.image.snapshot(of: replay.record.id) != nil
        let task = process.lane.start { [self] in
            let result = await run(plan, process, probe, isKnown: isKnown)
            end.withLock { $0 = result }
        }
        process.onDeath { task.cancel() }
        let stop = wait(for: task)
        handle.withLock { $0 = nil }
        process.kill()
        _ = simulation.run(stepLimit: 100_000) { task.isEnded }
        memory.lose(process.owner)
        return stop ?? end.withLock { $0 }
    }

    private func network(of process: SimulatedProcess) -> Network {
        let transport = SimulatedTransport(of: process, over: network, to: service)
        let tokens = AccessTokens(
            transport: ScriptedTransport { _, _ in
                HTTPExchangeResponse(status: 200, body: Array(#"{"access_token":"token","expires_in":3600}"#.utf8))
            })
        return Network(transport: AuthorizingTransport(transport, tokens: tokens))
    }

    private func run(
        _ plan: Plan, _ process: SimulatedProcess, _ probe: ReplayProbe, isKnown: Bool
    ) async -> String {
        var ports = EnginePorts(
            journal: ProcessJournal(memory, of: process, slowness: 0), clock: process.clock,
            randomness: simulation.randomness, secrets: SimulatedSecrets(replay.secrets), files: DiskFiles(),
            crashProbe: probe, owner: process.owner, keyedHash: { "\($0.count)" },
            observe: { [self] event in
                if event.kind == .stageWaiting, let step = event.step { callBack(step, plan) }
            })
        ports.callbackURL = { _, step, _ in "https://callback.test/\(step.stage)" }
        let engine = Engine(ports: ports)
        do throws(JournalFailure) {
            let (record, inputs) = (replay.record, replay.secretInputs)
            let drive =
                isKnown
                ? try await engine.resume(record.id, plan: plan, mode: .attached, secretInputs: inputs)
                : try await engine.start(record, plan: plan, mode: .attached, secretInputs: inputs)
            handle.withLock { $0 = drive }
            process.onDeath { drive.suspend(.interrupted) }
            switch try await drive.run() {
            case .ended(let phase): return phase.rawValue
            case .unknown: return "unknown"
            case .suspended(let cause): return "suspended (\(cause.rawValue))"
            case .parked, .lost: return "let go"
            }
        } catch {
            return "stopped"
        }
    }

    /// Returns why the job can't go on, once it can't; nil when it has ended.
    private func wait(for task: LaneTask) -> String? {
        var pauses = 0
        while true {
            switch simulation.run(
                stepLimit: 2_000_000, until: { task.isEnded }, standsStill: replay.runsProgram)
            {
            case .done: return nil
            case .endless: return "without an end"
            case .stuck where replay.runsProgram(): usleep(1000)
            case .stuck where pauses < 200:
                // A token is being fetched on another thread.
                usleep(5000)
                pauses += 1
            case .stuck: return "waiting for something that the recording does not have, such as a callback"
            }
        }
    }

    /// Has the service call back as it was recorded, soon after the stage began to wait.
    private func callBack(_ step: StepKey, _ plan: Plan) {
        let next: (call: Recording.Exchange, left: Int)? = callbacks.withLock { calls in
            guard let place = calls.firstIndex(where: { $0.callback == step.stage }) else { return nil }
            return (calls.remove(at: place), calls.count)
        }
        guard let next, let callback = plan.stage(step.stage)?.stage.callback else { return }
        let answer = ServiceResponse(
            status: 200, headers: next.call.headers.map { ($0.name, $0.value) }, url: next.call.url,
            body: Array(next.call.body.utf8))
        let values = callback.capture.isEmpty ? nil : try? callback.capture.values(in: answer)
        simulation.schedule(after: .seconds(1)) { [self] in
            SimulatedLane(simulation).start { [self] in
                let pushed = Callback(id: "recorded \(next.left)", time: simulation.now, captures: values)
                _ = try? await memory.post(pushed, to: step, of: replay.record.id)
                handle.withLock { $0 }?.checkInbox()
            }
        }
    }
}
