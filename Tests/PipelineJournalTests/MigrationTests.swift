import Foundation
import GRDB
import PipelineCore
import Testing

@testable import PipelineJournal

/// `RECORD=1 swift test --filter MigrationTests` adds the fixture of the last version when there is none; those that
/// are there are never written again: they are what users have on their disks.
@Suite("Every older version of the database")
struct MigrationTests {
    static let versions = [1, 3, 4, 5, 6, 7, 8]
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
        let job = version < 7 ? JobSnapshot.example(1, foundSecrets: []) : .example(1)
        var expected = job
        for change in JournalConformanceTests.history(job).joined() { expected.apply(change) }
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
        #expect(throws: DatabaseError.self) { try world.execute(change) }
    }

    private func record(_ fixture: URL) async throws {
        guard !FileManager.default.fileExists(atPath: fixture.path) else { return }
        let world = try SQLiteWorld()
        defer { world.remove() }
        let journal = try world.openSQLite()
        let job = JobSnapshot.example(1)
        var lease = try await journal.create(job, events: [], owner: OwnerID("fixture"))
        for changes in JournalConformanceTests.history(job) {
            try await journal.commit(changes, under: lease)
            if changes.contains(where: \.endsOwnership) {
                lease = try await journal.acquire(job.record.id, for: lease.owner)
            }
        }
        try await journal.backup(to: fixture.path)
    }
}
