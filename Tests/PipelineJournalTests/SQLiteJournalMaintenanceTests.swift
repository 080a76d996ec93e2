import Foundation
import JSONPath
import JournalConformance
import PipelineCore
import PipelineTestKit
import Testing

@testable import PipelineJournal

@Suite("Keeping an SQLite journal")
struct SQLiteJournalMaintenanceTests {
    @Test("a backup made while jobs go on is a whole journal, private, and replaces nothing")
    func backup() async throws {
        let world = try SQLiteWorld()
        defer { world.remove() }
        let journal = try world.openSQLite()
        let job = JobSnapshot.example(1)
        let lease = try await journal.create(job, events: [], owner: journal.owner)
        async let writing: Void = {
            for sequence in 1...50 { try await journal.commit([.event(job.event(sequence))], under: lease) }
        }()
        let copy = world.folder.path + "/copy"
        try FileManager.default.createDirectory(
            atPath: copy, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        try await journal.backup(to: copy + "/journal.sqlite")
        try await writing
        #expect(SQLiteWorld.mode(copy + "/journal.sqlite") == 0o600)
        let restored = try SQLiteJournal(folder: copy, clock: world.clock)
        #expect(try await restored.checkIntegrity().isEmpty)
        #expect(try await restored.acquire(job.record.id, for: restored.owner).epoch == 2)
        await #expect(throws: JournalFailure.self) { try await journal.backup(to: copy + "/journal.sqlite") }
        #expect(try await restored.checkIntegrity().isEmpty)
    }

    @Test(
        "the check finds rows that can't be read, events with gaps and rows without a job",
        arguments: [
            ("UPDATE steps SET detail = '{}', state = 'waiting' WHERE stage = 'upload'", "can't be read"),
            ("UPDATE events SET data = 'text'", "can't be read"), ("DELETE FROM events WHERE sequence = 1", "gaps"),
            ("DELETE FROM jobs", "not there"),
        ])
    func findsMistakes(sql: String, word: String) async throws {
        let world = try SQLiteWorld()
        defer { world.remove() }
        let journal = try world.openSQLite()
        let job = JobSnapshot.example(1)
        _ = try await journal.create(job, events: [job.event(1), job.event(2)], owner: journal.owner)
        #expect(try await journal.checkIntegrity().isEmpty)
        try world.execute(sql)
        let mistakes = try await journal.checkIntegrity()
        #expect(mistakes.first?.contains(word) == true, "\(mistakes)")
    }

    @Test("jobs of which somebody is still to be told are found once nobody owns them")
    func untold() async throws {
        let world = try SQLiteWorld()
        defer { world.remove() }
        let journal = try world.openSQLite()
        var leases: [Lease] = []
        for (number, state) in [NotificationRecord.State.due, .planned, .sent].enumerated() {
            var job = JobSnapshot.example(number)
            job.notifications["n"] = NotificationRecord(
                id: "n", entry: 0, event: .late, state: state, due: .at(1), time: .at(1), title: "late")
            leases.append(try await journal.create(job, events: [], owner: journal.owner))
        }
        #expect(try await journal.untoldJobs().isEmpty)
        for lease in leases { try await journal.commit([.ended(.at(1))], under: lease) }
        #expect(try await journal.untoldJobs() == [leases[0].job])
    }

    @Test("jobs that started from the same document share it, and the last one takes it away")
    func sharesDocuments() async throws {
        let world = try SQLiteWorld()
        defer { world.remove() }
        let journal = try world.openSQLite()
        for number in 1...2 {
            let lease = try await journal.create(.example(number), events: [], owner: journal.owner)
            try await journal.commit([.ended(.at(1))], under: lease)
        }
        #expect(try world.execute("SELECT digest FROM documents").count == 1)
        for number in 1...2 { _ = try await journal.remove(JobSnapshot.example(number).record.id) }
        #expect(try world.execute("SELECT digest FROM documents").isEmpty)
        #expect(try world.execute("SELECT stage FROM steps").isEmpty)
    }

    @Test("what a closed journal is asked for fails instead of hanging")
    func closed() async throws {
        let world = try SQLiteWorld()
        defer { world.remove() }
        let journal = try world.openSQLite()
        let job = JobSnapshot.example(1)
        let lease = try await journal.create(job, events: [], owner: journal.owner)
        await journal.close()
        await journal.close()
        await #expect(throws: JournalFailure.self) { try await journal.commit([], under: lease) }
        await #expect(throws: JournalFailure.self) { _ = try await journal.snapshot(of: job.record.id) }
        await #expect(throws: JournalFailure.self) { _ = try await journal.acquire(job.record.id, for: journal.owner) }
        #expect(try FileManager.default.contentsOfDirectory(atPath: world.state + "/owners").isEmpty)
    }
}
