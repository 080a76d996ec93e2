import Foundation
import JournalConformance
import PipelineCore
import PipelineSQLite
import Testing

@testable import PipelineJournal

@Suite("Group commit")
struct GroupCommitTests {
    @Test("lets the commits of 64 jobs side by side share transactions: at most one for five")
    func sharesTransactions() async throws {
        let world = try SQLiteWorld()
        defer { world.remove() }
        let journal = try world.openSQLite()
        var leases: [(JobSnapshot, Lease)] = []
        for number in 1...64 {
            let job = JobSnapshot.example(number)
            leases.append((job, try await journal.create(job, events: [], owner: journal.owner)))
        }
        let before = journal.statistics
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (job, lease) in leases {
                group.addTask {
                    for sequence in 1...20 { try await journal.commit([.event(job.event(sequence))], under: lease) }
                }
            }
            try await group.waitForAll()
        }
        let calls = journal.statistics.calls - before.calls
        #expect(calls == 64 * 20)
        #expect(journal.statistics.transactions - before.transactions <= calls / 5)
        for (job, _) in leases { #expect(try await journal.events(of: job.record.id, after: 0).count == 20) }
    }

    @Test("keeps the others of a group when one is refused, and nothing of that one")
    func isolates() async throws {
        let world = try SQLiteWorld()
        defer { world.remove() }
        let journal = try world.openSQLite()
        let jobs = (1...3).map { JobSnapshot.example($0) }
        var leases: [Lease] = []
        for job in jobs { leases.append(try await journal.create(job, events: [], owner: journal.owner)) }
        let folder = StateFolder(world.state)
        let database = try JournalDatabase(folder)
        let owners = Owners(folder: folder, clock: world.clock, length: 30_000)
        let calls = zip(jobs, leases).map { job, lease in
            QueuedWrite<SQLiteConnection>(
                perform: { (rows) throws(JournalFailure) in
                    let number = try rows.number(under: lease)
                    try rows.apply([.event(job.event(1))], to: number)
                    if job.record.id == jobs[1].record.id { throw .conflict(.upload) }
                    return {}
                }, refuse: { _ in })
        }
        var group = CommitGroup(calls: calls, renewals: [], leases: owners)
        try database.access { (connection) throws(JournalFailure) in try group.write(on: connection) }
        #expect(group.isCommitted && group.kept.count == 2)
        #expect(group.refused.map(\.1) == [.conflict(.upload)])
        for (index, job) in jobs.enumerated() {
            #expect(try await journal.events(of: job.record.id, after: 0).count == (index == 1 ? 0 : 1))
        }
    }

    @Test("tells every caller its own result, whoever else is in the group")
    func ownResults() async throws {
        let world = try SQLiteWorld()
        defer { world.remove() }
        let journal = try world.openSQLite()
        let job = JobSnapshot.example(1)
        let lease = try await journal.create(job, events: [], owner: journal.owner)
        let kept = await withTaskGroup(of: Bool.self) { group in
            for _ in 1...50 {
                group.addTask { (try? await journal.commit([.event(job.event(1))], under: lease)) != nil }
            }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(kept == 1)
        #expect(journal.statistics.refused == 49)
    }

    @Test("is busy, and keeps nothing, while another process holds the database")
    func busy() async throws {
        let world = try SQLiteWorld()
        defer { world.remove() }
        let journal = try SQLiteJournal(folder: world.state, clock: world.clock, busyTimeout: .milliseconds(20))
        let job = JobSnapshot.example(1)
        let lease = try await journal.create(job, events: [], owner: journal.owner)
        let holder = try world.holdForWriting()
        await #expect(throws: JournalFailure.busy) { try await journal.commit([.event(job.event(1))], under: lease) }
        holder.rollBack()
        try await journal.commit([.event(job.event(1))], under: lease)
    }

    @Test("leaves whole commits only, wherever a power cut ends the log")
    func powerCut() async throws {
        let world = try SQLiteWorld()
        defer { world.remove() }
        let journal = try world.openSQLite()
        var job = JobSnapshot.example(1)
        let lease = try await journal.create(job, events: [], owner: journal.owner)
        for sequence in 1...12 {
            let changes = [job.next(.upload, .running(AttemptState(number: sequence))), .event(job.event(sequence))]
            try await journal.commit(changes, under: lease)
            for change in changes { job.apply(change) }
        }
        let size = try FileManager.default.attributesOfItem(atPath: world.database + "-wal")[.size] as? Int ?? 0
        var last = 0
        for length in stride(from: size / 4, through: size, by: 1_999) {
            let copy = try world.copy(to: "cut-\(length)")
            truncate(copy + "/journal.sqlite-wal", length)
            try? FileManager.default.removeItem(atPath: copy + "/journal.sqlite-shm")
            let opened = try SQLiteJournal(folder: copy, clock: world.clock)
            let found = try await opened.snapshot(of: job.record.id)
            let sequence = found?.sequence ?? 0
            #expect(found?.steps[.upload]?.version ?? 0 == sequence)
            #expect(sequence >= last)
            #expect(try await opened.checkIntegrity().isEmpty)
            last = sequence
            await opened.close()
        }
        let whole = try SQLiteJournal(folder: try world.copy(to: "whole"), clock: world.clock)
        #expect(try await whole.snapshot(of: job.record.id)?.sequence == 12)
    }
}
