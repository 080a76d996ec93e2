import Foundation
import JournalConformance
import PipelineCore
import PipelineSQLite
import Testing

@testable import PipelineJournal

/// `RECORD=1 swift test --filter MigrationTests` adds the fixture of the last version when there is none; those that
/// are there are never written again: they are what users have on their disks.
@Suite("Every older version of the database")
struct MigrationTests {
    static let versions = [1, 3, 4, 5, 6, 7, 8, 9]
    static let source = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Fixtures")

    @Test("is migrated and read", arguments: versions)
    func migrates(version: Int) async throws {
        let world = try SQLiteWorld()
        defer { world.remove() }
        let fixture = Self.source.appending(path: "journal-v\(version).sqlite")
        if ProcessInfo.processInfo.environment["RECORD"] == "1" { try await record(fixture) }
        mkdir(world.state, 0o700)
        try FileManager.default.copyItem(atPath: fixture.path, toPath: world.database)
        let journal = try world.openSQLite()
        #expect(try await journal.checkIntegrity().isEmpty)
        // Before version 7 nobody kept which secrets a job began with.
        let job = version < 7 ? JobSnapshot.example(1, beginning: JobBeginning()) : .example(1)
        var expected = job
        for change in JobPromises.history(job).joined() { expected.apply(change) }
        // These databases were written before the example had digests and texts of files.
        for fact in [Fact.digest("/a", .sha256), .digest("/a", .md5), .text("/a"), .base64("/a")] {
            expected.facts[fact] = nil
        }
        let read = try #require(try await journal.snapshot(of: job.record.id))
        #expect(SnapshotEssence.differences(read, expected) == [])
        #expect(try await journal.events(of: job.record.id, after: 0).count == 2)
        // Since version 3 a job is let go by the transaction that says so, and was taken again to go on.
        #expect(try await journal.acquire(job.record.id, for: journal.owner).epoch >= 2)
        let fresh = try SQLiteWorld()
        defer { fresh.remove() }
        try await fresh.openSQLite().close()
        let schema = "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name"
        #expect(try world.execute(schema) == fresh.execute(schema))
    }

    @Test(
        "ends in tables that take no state or phase which does not exist, and none without its detail",
        arguments: [
            "UPDATE steps SET state = 'done'", "UPDATE steps SET state = 'waiting', detail = NULL",
            "UPDATE submits SET phase = 'sent'",
        ])
    func refuses(change: String) async throws {
        let world = try SQLiteWorld()
        defer { world.remove() }
        let fixture = Self.source.appending(path: "journal-v7.sqlite")
        mkdir(world.state, 0o700)
        try FileManager.default.copyItem(atPath: fixture.path, toPath: world.database)
        try await world.openSQLite().close()
        #expect(try world.execute("SELECT count(*) FROM submits") != ["0"])
        #expect(throws: SQLiteError.self) { try world.execute(change) }
    }

    /// Made by the program of version 0.1.0, which was killed in the middle of three of its jobs.
    @Test("with jobs in every state, as version 0.1.0 left it, is taken over as it is")
    func takesOver() async throws {
        let world = try SQLiteWorld()
        defer { world.remove() }
        mkdir(world.state, 0o700)
        try FileManager.default.copyItem(
            atPath: Self.source.appending(path: "journal-0.1.0.sqlite").path, toPath: world.database)
        let journal = try world.openSQLite()
        #expect(try await journal.checkIntegrity().isEmpty)
        let expected = [
            "succeeded":
                "each succeeded, each[0] succeeded, each[1] succeeded, get succeeded, never skipped, put succeeded",
            "failed": "after pending, bad failed", "cancelled": "after cancelled, model cancelled",
            "waiting": "after pending, model waiting (interrupted)", "paused": "after pending, model waiting (paused)",
            "background": "after pending, model waiting", "crashed": "after pending, model running",
            "unknown": "after pending, model unknown",
        ]
        var found: [String: String] = [:]
        for job in try await journal.jobs(JobQuery()) {
            let snapshot = job.snapshot
            let steps = snapshot.steps.map { key, step in "\(key) \(step.state.name.rawValue)" }.sorted()
            let cause = snapshot.cause.map { " (\($0.rawValue))" } ?? ""
            found[snapshot.record.pipeline] = steps.joined(separator: ", ") + cause
            // The processes of then are gone: each job can be taken up.
            #expect(try await journal.acquire(snapshot.record.id, for: journal.owner).epoch >= 2)
        }
        #expect(found == expected)
        #expect(
            try world.execute("SELECT phase FROM submits ORDER BY phase") == [
                "sending", "submitted", "submitted", "submitted", "submitted", "unknown",
            ])
        #expect(try world.execute("SELECT kind FROM facts ORDER BY kind") == ["now", "now", "uuid", "uuid"])
        #expect(try world.execute("PRAGMA user_version") == ["23"])
        // What that version finds now is a step that it does not know, and it says that the journal is newer.
        #expect(try world.execute("SELECT identifier FROM grdb_migrations").contains("user-version"))
    }

    @Test("of version 0.1.0 with a step that nobody knows is newer, and is left as it is")
    func newerByName() async throws {
        let world = try SQLiteWorld()
        defer { world.remove() }
        mkdir(world.state, 0o700)
        try FileManager.default.copyItem(
            atPath: Self.source.appending(path: "journal-0.1.0.sqlite").path, toPath: world.database)
        try world.execute("INSERT INTO grdb_migrations VALUES ('from the future')")
        #expect(throws: JournalFailure.newer(file: world.database)) { _ = try world.openSQLite() }
        #expect(try world.execute("PRAGMA user_version") == ["0"])
    }

    private func record(_ fixture: URL) async throws {
        guard !FileManager.default.fileExists(atPath: fixture.path) else { return }
        let world = try SQLiteWorld()
        defer { world.remove() }
        let journal = try world.openSQLite()
        let job = JobSnapshot.example(1)
        var lease = try await journal.create(job, events: [], owner: OwnerID("fixture"))
        for changes in JobPromises.history(job) {
            try await journal.commit(changes, under: lease)
            if changes.contains(where: \.endsOwnership) {
                lease = try await journal.acquire(job.record.id, for: lease.owner)
            }
        }
        try await journal.backup(to: fixture.path)
    }
}
