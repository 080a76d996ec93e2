import JournalConformance
import PipelineCore
import PipelineTestKit
import Testing

/// The page of the journal's port, held against every journal.
@Suite("Every journal")
struct JournalConformanceTests {
    @Test(
        "keeps what every journal promises", arguments: JournalConformance.all + JournalConformance.history,
        JournalKind.allCases)
    func keeps(promise: JournalConformance, kind: JournalKind) async throws {
        let violations = await promise.violations(in: try await kind.makeWorld())
        #expect(violations.isEmpty)
    }

    @Test(
        "in a database keeps batches and services too", arguments: JournalConformance.ofDatabases, JournalKind.databases
    )
    func keepsRows(promise: JournalConformance, kind: JournalKind) async throws {
        let violations = await promise.violations(in: try await kind.makeWorld())
        #expect(violations.isEmpty)
    }

    /// A world whose journal is not the same for two processes, and never lets go.
    private struct BrokenWorld: JournalWorld {
        func open() throws -> any Journal { MemoryWorld().journal }
        func kill(_ owner: OwnerID, _ journal: any Journal) async { (journal as? MemoryJournal)?.close() }
        func stop(_ owner: OwnerID) async {}
        func remove() {}
    }

    @Test("that keeps less is found out")
    func findsBroken() async {
        var broken = 0
        for promise in JournalConformance.owners where await !promise.violations(in: BrokenWorld()).isEmpty {
            broken += 1
        }
        #expect(broken >= 6)
    }
}
