import PipelineCore
import PipelineEngine
import PipelineJournal
import PipelineKit
import PipelineTestKit
import Synchronization
import Testing

/// The clock of jobs that a command runs itself.
@Suite(
    "The clock of an attached run", .timeLimit(.minutes(2)),
    .enabled(if: PostgresServer.isAvailable, Comment(rawValue: PostgresServer.howTo)))
struct SharedClockTests {
    /// Counts the database's time on; once it is advanced that is another than the machine's.
    private final class AdvancedClock: LeaseClock {
        private let clock = BootLeaseClock()
        private let ahead = Mutex<Int64>(0)

        var bootID: String { clock.bootID }
        var now: Int64 { clock.now + ahead.withLock { $0 } }
        func advance(by milliseconds: Int64) { ahead.withLock { $0 += milliseconds } }
    }

    /// A run on a machine whose clock was wrong told workers times that they took for the database's.
    @Test("is the journal's, where machines share one, as a worker's is")
    func shared() async throws {
        let folder = TemporaryFolder()
        defer { folder.remove() }
        let server = try await PostgresServer.shared()
        let address = server.address(of: try await server.makeDatabase())
        _ = try PostgresJournal.migrate(address)
        var options = PostgresJournal.Options()
        let clock = AdvancedClock()
        options.clock = clock
        let journal = try PostgresJournal(address, options: options)
        clock.advance(by: 3_600_000)
        try folder.write(
            "note.json",
            """
            { "pipeline": 1, "name": "note",
              "stages": [ { "id": "keep", "kind": "write", "to": "note.txt", "text": "x" } ] }
            """)
        let workspace = ExampleBench.workspace(environment: [:], state: folder.path + "/state")
        let draft = try JobDraft(
            path: folder.file("note.json"), catalogue: workspace.catalogue, given: GivenInputs(), environment: [:],
            standardInput: { nil })
        let record = draft.record(
            id: workspace.newJobID(), key: nil, started: journal.clock.now, outputFolder: folder.path,
            overwrites: false)
        let times = Mutex<[Timestamp]>([])
        let engine = try workspace.engine(journal: journal, secrets: try workspace.secrets()) { event in
            if event.kind == .jobStarted { times.withLock { $0.append(event.time) } }
        }
        let end = try await engine.start(record, plan: draft.plan, mode: .attached).run()
        #expect(end == .ended(.succeeded))
        let ahead = times.withLock { $0 }.map { $0.seconds(since: SystemClock().now) }
        #expect(ahead.count == 1 && ahead[0] > 1800, "\(ahead)")
        await journal.close()
    }
}
