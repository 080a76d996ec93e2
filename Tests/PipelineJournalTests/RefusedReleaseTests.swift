import JournalConformance
import PipelineCore
import PipelineTestKit
import Testing

@testable import PipelineJournal

/// A process that can't let a job go, for its journal takes no such write at the moment: a full disk, a read-only server.
@Suite("A release that a journal refuses")
struct RefusedReleaseTests {
    private let owner = OwnerID("one")

    /// Has the database refuse to let any job go, or takes that back.
    private func refuseReleases(_ world: any JournalWorld, _ isRefusing: Bool) async throws {
        if let world = world as? SQLiteWorld {
            try world.execute(
                isRefusing
                    ? "CREATE TRIGGER refusal BEFORE UPDATE OF owner ON jobs WHEN NEW.owner IS NULL "
                        + "BEGIN SELECT RAISE(ABORT, 'no room'); END"
                    : "DROP TRIGGER refusal")
        } else if let world = world as? PostgresWorld {
            try await world.server.query(
                isRefusing
                    ? "CREATE FUNCTION pipeline.refuse() RETURNS trigger LANGUAGE plpgsql AS "
                        + "'BEGIN RAISE EXCEPTION USING ERRCODE = ''53100'', MESSAGE = ''no room''; END'; "
                        + "CREATE TRIGGER refusal BEFORE UPDATE OF owner ON pipeline.jobs FOR EACH ROW "
                        + "WHEN (NEW.owner IS NULL) EXECUTE FUNCTION pipeline.refuse()"
                    : "DROP TRIGGER refusal ON pipeline.jobs",
                in: world.database)
        }
    }

    /// The row kept its owner, which renewed its lease for as long as it lived: nobody ever went on with the job.
    @Test("is made up for by the next write of the owner that succeeds", arguments: JournalKind.databases)
    func letsGoLater(kind: JournalKind) async throws {
        let world = try await kind.makeWorld()
        defer { world.remove() }
        let (mine, other) = (try world.open(), try world.open())
        let lease = try await mine.create(.example(1), events: [], owner: owner)
        try await refuseReleases(world, true)
        await #expect(throws: JournalFailure.self) { try await mine.release(lease) }
        // A write that succeeds while the release still does not.
        _ = try await mine.create(.example(2), events: [], owner: owner)
        await #expect(throws: JournalFailure.owned(by: owner)) {
            _ = try await other.acquire(lease.job, for: OwnerID("two"))
        }
        try await refuseReleases(world, false)
        _ = try await mine.create(.example(3), events: [], owner: owner)
        #expect(!mine.holds(lease))
        #expect(try await other.acquire(lease.job, for: OwnerID("two")).epoch == lease.epoch + 1)
        await (mine as? any DatabaseJournal)?.close()
        await (other as? any DatabaseJournal)?.close()
    }

    @Test("does not keep the same owner from taking the job up again", arguments: JournalKind.databases)
    func takesUpAgain(kind: JournalKind) async throws {
        let world = try await kind.makeWorld()
        defer { world.remove() }
        let journal = try world.open()
        let job = JobSnapshot.example(1)
        let lease = try await journal.create(job, events: [], owner: owner)
        try await refuseReleases(world, true)
        await #expect(throws: JournalFailure.self) { try await journal.release(lease) }
        try await refuseReleases(world, false)
        let next = try await journal.acquire(lease.job, for: owner)
        #expect(next.epoch == lease.epoch + 1 && journal.holds(next))
        // What was made up for is not done once more, under the lease of now.
        try await journal.commit([.event(job.event(1))], under: next)
        #expect(journal.holds(next))
        await (journal as? any DatabaseJournal)?.close()
    }
}
