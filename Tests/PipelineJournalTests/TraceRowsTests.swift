import JournalConformance
import PipelineCore
import Testing

@testable import PipelineJournal

@Suite("How far traces were exported, in the journal")
struct TraceRowsTests {
    private static let link = TraceLink("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")

    @Test("a cursor goes forward, keeps the link of its start, and is there when the journal is opened again")
    func kept() async throws {
        let world = try SQLiteWorld()
        defer { world.remove() }
        let journal = try world.openSQLite()
        let job = JobSnapshot.example(1)
        _ = try await journal.create(job, events: [], owner: journal.owner)
        let id = job.record.id
        #expect(try await journal.traceCursor(of: id) == nil)
        try await journal.keep(TraceCursor(sequence: 3, link: Self.link), of: id)
        try await journal.keep(TraceCursor(sequence: 7), of: id)
        // One that was slower than another exports nothing again.
        try await journal.keep(TraceCursor(sequence: 5), of: id)
        await journal.close()
        let again = try world.openSQLite()
        #expect(try await again.traceCursor(of: id) == TraceCursor(sequence: 7, link: Self.link))
    }

    @Test("jobs of which spans are left are found by the next process, the oldest first; a whole trace is not")
    func open() async throws {
        let world = try SQLiteWorld()
        defer { world.remove() }
        let journal = try world.openSQLite()
        var ids: [JobID] = []
        for number in 1...4 {
            let job = JobSnapshot.example(number)
            _ = try await journal.create(job, events: [], owner: journal.owner)
            ids.append(job.record.id)
        }
        // The last one is not exported at all: it was started without a collector.
        for id in ids.dropLast() { try await journal.keep(TraceCursor(sequence: 1), of: id) }
        try await journal.keep(TraceCursor(sequence: 9, isWhole: true), of: ids[1])
        #expect(try await journal.openTraces(limit: 10) == [ids[0], ids[2]])
        #expect(try await journal.openTraces(limit: 1) == [ids[0]])
        // Taken up once more after its end, it has more to tell.
        try await journal.keep(TraceCursor(sequence: 9), of: ids[1])
        #expect(try await journal.openTraces(limit: 10) == ids.dropLast())
    }

    @Test("the rows of a job go with it; those of a job that is not there are not kept")
    func removed() async throws {
        let world = try SQLiteWorld()
        defer { world.remove() }
        let journal = try world.openSQLite()
        let job = JobSnapshot.example(1)
        let lease = try await journal.create(job, events: [], owner: journal.owner)
        let id = job.record.id
        try await journal.keep(TraceCursor(sequence: 3), of: JobID("01zzzzzzzzzzzzzzzzzzzzzzzz"))
        try await journal.keep(TraceCursor(sequence: 3), of: id)
        try await journal.commit([.ended(Timestamp(milliseconds: 1))], under: lease)
        try await journal.release(lease)
        _ = try await journal.remove(id)
        #expect(try await journal.traceCursor(of: id) == nil)
        #expect(try await journal.openTraces(limit: 10).isEmpty)
    }
}
