import JSONPath
import PipelineCore
import PipelineKit
import PipelineTestKit
import Synchronization
import Testing

/// A batch of which the journal refuses a write of an item, or whose items another process lets go, in virtual time.
@Suite("A batch whose item's commit is refused")
struct BatchRefusalTests {
    /// Begins items of which a write is refused at once, or which another process lets go after a second, for it lacks a
    /// secret; each goes on elsewhere, and ends 20 s after it began.
    private final class Host: ItemHost {
        let retakesRefused: Bool
        let runsHere: Bool
        let runner = Mutex<BatchRunner?>(nil)
        private let journal: MemoryJournal
        private let process: SimulatedProcess

        init(_ journal: MemoryJournal, _ process: SimulatedProcess, retakesRefused: Bool, runsHere: Bool) {
            self.journal = journal
            self.process = process
            self.retakesRefused = retakesRefused
            self.runsHere = runsHere
        }

        func begin(_ record: JobRecord, _ draft: JobDraft) async throws(JournalFailure) {
            let job = JobSnapshot(record: record, steps: [:], mode: .background)
            let lease = try await journal.create(job, events: [], owner: process.owner)
            if runsHere {
                let refusal = Result<JobEnd, JournalFailure>.failure(.full(folder: "/state"))
                runner.withLock { $0 }?.rested(record.id, item: record.item?.key, refusal)
            } else {
                after(.seconds(1)) { [journal] in
                    try await journal.commit([.item(ItemOutcome(.suspended)), .released(.secret)], under: lease)
                }
            }
            after(.seconds(20)) { [journal, process, runsHere] in
                let last = try await runsHere ? lease : journal.acquire(record.id, for: process.owner)
                var outcome = ItemOutcome(.succeeded)
                outcome.ended = process.clock.now
                try await journal.commit([.item(outcome), .ended(process.clock.now)], under: last)
            }
        }

        private func after(_ time: Duration, _ body: @escaping @Sendable () async throws -> Void) {
            process.simulation.schedule(after: time) { [process] in
                process.lane.start { try? await body() }
            }
        }

        func retry(_ job: JobID, _ again: RestartScope) {}
        func goOn(_ job: JobID) {}
        var room: Int { 64 }
        func interrupt() {}
    }

    private final class Ending: Sendable {
        let end = Mutex<Result<BatchRunner.End, JournalFailure>?>(nil)
    }

    private struct Outcome {
        let end: Result<BatchRunner.End, JournalFailure>?
        let batch: JobSnapshot?
    }

    /// Runs a batch of two items.
    private func run(retakesRefused: Bool, runsHere: Bool = true, atOnce: Int) throws -> Outcome {
        let simulation = Simulation(seed: 1)
        let process = SimulatedProcess(simulation, name: "daemon")
        let memory = MemoryJournal()
        let kind = StageKind.scripted("send") { _, _, _ async throws(StageFailure) in .finished([:]) }
        let source = #"{ "pipeline": 1, "name": "two", "stages": [ { "id": "a", "kind": "send" } ] }"#
        let plan = try Planner(catalogue: Catalogue(kinds: [kind], checkDecorators: { _, _ in })).plan(
            SourceText(name: "two.json", text: source))
        let record = JobRecord(
            id: JobID(at: simulation.now, random: (9, 1)), pipeline: "two", key: "june", started: simulation.now,
            source: source, sourceName: "two.json", digest: "two", inputs: [:], environment: [:],
            folders: JobFolders(document: "/", output: "/"), overwrites: false)
        let host = Host(memory, process, retakesRefused: retakesRefused, runsHere: runsHere)
        let (ending, ids) = (Ending(), IDs())
        let task = process.lane.start {
            do throws(JournalFailure) {
                let job = JobSnapshot(record: record, steps: [:], mode: .background)
                let lease = try await memory.create(
                    BatchRecord(sources: [], folder: "/", settings: BatchSettings(atOnce: atOnce)), job: job,
                    events: [],
                    owner: process.owner)
                _ = try await memory.add(
                    [NewItem(key: "one", line: 1, inputs: [:]), NewItem(key: "two", line: 2, inputs: [:])],
                    place: ReadingPlace(source: 0), isRead: true, known: KnownItemRule(), to: lease)
                let runner = BatchRunner(
                    BatchRunner.Subject(
                        draft: JobDraft(record, plan: plan, secretInputs: [:]), job: job, lease: lease),
                    ports: BatchRunner.Ports(journal: memory, clock: process.clock) {
                        JobID(at: simulation.now, random: (1, ids.next()))
                    },
                    options: BatchRunner.Options())
                host.runner.withLock { $0 = runner }
                let end = try await runner.run(on: host)
                ending.end.withLock { $0 = .success(end) }
            } catch {
                ending.end.withLock { $0 = .failure(error) }
            }
        }
        #expect(simulation.run { task.isEnded } == .done)
        return Outcome(end: ending.end.withLock { $0 }, batch: memory.image.snapshot(of: record.id))
    }

    private final class IDs: Sendable {
        private let last = Mutex<UInt64>(0)
        func next() -> UInt64 {
            last.withLock { last in
                last += 1
                return last
            }
        }
    }

    /// It was suspended as interrupted, which a person has to end, although all its items went on.
    @Test("waits for items that are taken up again, and ends with them", arguments: [1, 64])
    func waits(atOnce: Int) throws {
        let outcome = try run(retakesRefused: true, atOnce: atOnce)
        #expect(outcome.end == .success(.ended(.succeeded)))
        #expect(outcome.batch?.batch?.count(.succeeded) == 2)
    }

    /// It was suspended as interrupted, which a person has to end, when all that had begun were let go at the same moment.
    @Test("waits for items that one worker has left to the others, and ends with them", arguments: [1, 64])
    func leftToOthers(atOnce: Int) throws {
        let outcome = try run(retakesRefused: true, runsHere: false, atOnce: atOnce)
        #expect(outcome.end == .success(.ended(.succeeded)))
        #expect(outcome.batch?.batch?.count(.succeeded) == 2)
    }

    /// With as many of them as may run at once it waited forever for a place.
    @Test(
        "is let go without a cause where nobody takes them up again: the next owner goes on by itself",
        arguments: [1, 64])
    func letsGo(atOnce: Int) throws {
        let outcome = try run(retakesRefused: false, atOnce: atOnce)
        #expect(outcome.end == .failure(.full(folder: "/state")))
        #expect(outcome.batch?.ended == nil && outcome.batch?.cause == nil)
    }
}
