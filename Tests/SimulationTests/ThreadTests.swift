import Foundation
import JSONPath
import PipelineCore
import PipelineEngine
import PipelineTestKit
import Synchronization
import Testing

/// What virtual time, in which one thread does all, can't show. Here, where tests go one after the other, a test may block a
/// thread.
@Suite struct ThreadTests {
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
private enum Spin {
    static func briefly() {
        var sum: UInt64 = 0
        for index in 0..<1000 { sum = sum &* 31 &+ UInt64(index) }
        withExtendedLifetime(sum) {}
    }
}

private extension JobRecord {
    static func named(_ id: String) -> JobRecord {
        JobRecord(
            id: JobID(id), pipeline: "test", key: id, started: .epoch, source: "", sourceName: "", digest: "",
            inputs: [:], environment: [:], folders: JobFolders(document: "/", output: "/"), overwrites: false)
    }
}

private extension EnginePorts {
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
private struct StoppedClock: WallClock {
    var now: Timestamp { .epoch }
    var elapsed: Duration { .zero }
    func sleep(until time: Timestamp) async throws(CancellationError) { throw CancellationError() }
}
