import Foundation
import JSONPath
import PipelineCore
import PipelineEngine
import PipelineTestKit
import Synchronization
import Testing

/// Many jobs, and stages that take the processor.
@Suite struct ManyTests {
    @Test("two hundred jobs at a time each come to their own end")
    func manyJobs() {
        let kind = StageKind.scripted("poll", captures: ["job"]) { _, saved, context async throws(StageFailure) in
            let count = saved.flatMap { Int($0) } ?? 0
            if count == 5 { return .finished(["job": .string(context.facts.job.text)]) }
            return .waiting("\(count + 1)", until: .at(context.now + .seconds(30)), WaitReason(.poll))
        }
        let bench = EngineBench(#"{ "id": "a", "kind": "poll" }"#, kinds: [kind])
        let start = bench.simulation.now
        let lives = (0..<200).map { bench.live(job: "j\($0)") }
        for life in lives { #expect(bench.end(of: life) == .success(.ended(.succeeded))) }
        for index in 0..<200 {
            #expect(bench.state("a", of: "j\(index)") == .succeeded(["job": .string("j\(index)")]))
        }
        #expect(bench.simulation.now - start < .seconds(160))
        #expect(bench.recorder.violations.isEmpty)
        #expect(bench.simulation.strays == 0)
    }

    @Test("an owner that dies between the start of a repeated stage and its items loses none of them")
    func diesBeforeItems() {
        let kind = StageKind.scripted("echo", captures: ["x"]) { reading, _, context async throws(StageFailure) in
            .finished(["x": try await context.evaluate { scope throws(EvaluationFailure) in scope.item ?? .null }])
        }
        let stage = #"{ "id": "a", "kind": "echo", "forEach": "split('p,q,r', ',')" }"#
        for passes in 1...40 {
            let bench = EngineBench(stage, kinds: [kind])
            let life = bench.live()
            life.process.after(passes: passes) {
                life.process.kill()
                life.drive.value?.suspend(.interrupted)
            }
            if bench.end(of: life) != .success(.ended(.succeeded)), bench.job()?.ended == nil {
                #expect(bench.end(of: bench.live()) == .success(.ended(.succeeded)), "passes \(passes)")
            }
            #expect(bench.state("a") == .succeeded(["x": ["p", "q", "r"]]), "passes \(passes)")
        }
    }

    @Test(
        "a stage that hashes does not hold its job's driver",
        .enabled(if: ProcessInfo.processInfo.activeProcessorCount > 1, "needs two processors"), .timeLimit(.minutes(1)))
    func hashingStage() async throws {
        let isOpen = Mutex(false)
        let (begun, begins) = AsyncStream<Void>.makeStream()
        // It blocks its thread until the driver has answered: on the driver's own executor neither would ever end.
        let kind = StageKind.scripted("hash") { _, _, _ async throws(StageFailure) in
            begins.yield()
            while !isOpen.withLock({ $0 }) { Spin.briefly() }
            return .finished([:])
        }
        let other = StageKind.scripted("quick") { _, _, context async throws(StageFailure) in
            try await context.commit("1")
            isOpen.withLock { $0 = true }
            return .finished([:])
        }
        let text = """
            { "pipeline": 1, "name": "test", "stages": [
              { "id": "a", "kind": "hash", "needs": [] }, { "id": "b", "kind": "quick", "needs": [] } ] }
            """
        let catalogue = Catalogue(kinds: [kind, other], checkDecorators: { _, _ in })
        let plan = try Planner(catalogue: catalogue).plan(SourceText(name: "test.json", text: text))
        let engine = Engine(ports: .real(journal: MemoryJournal()))
        let drive = try await engine.start(.named("j1"), plan: plan, mode: .attached)
        #expect(try await drive.run() == .ended(.succeeded))
        _ = begun
    }
}

/// A moment of the processor's time.
enum Spin {
    static func briefly() {
        var sum: UInt64 = 0
        for index in 0..<1000 { sum = sum &* 31 &+ UInt64(index) }
        withExtendedLifetime(sum) {}
    }
}

extension JobRecord {
    static func named(_ id: String) -> JobRecord {
        JobRecord(
            id: JobID(id), pipeline: "test", key: id, started: .epoch, source: "", sourceName: "", digest: "",
            inputs: [:], environment: [:], folders: JobFolders(document: "/", output: "/"), overwrites: false)
    }
}

extension EnginePorts {
    /// Ports on the machine's own threads, for what virtual time can't show.
    static func real(journal: any Journal) -> EnginePorts {
        let simulation = Simulation(seed: 1)
        return EnginePorts(
            journal: journal, clock: StoppedClock(), randomness: SeededRandomness(seed: 1), secrets: SimulatedSecrets(),
            files: NoFiles(), crashProbe: SimulatedProcess(simulation, name: "p"), owner: OwnerID("p"),
            keyedHash: { "\($0.count)" }, observe: { _ in })
    }
}

/// A clock that stands still.
struct StoppedClock: WallClock {
    var now: Timestamp { .epoch }
    var elapsed: Duration { .zero }
    func sleep(until time: Timestamp) async throws(CancellationError) { throw CancellationError() }
}
