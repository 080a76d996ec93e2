import PipelineCore
import PipelineTestKit
import Testing

/// Who may write, and how an owner is reached: the same for every journal.
@Suite("Every journal's owners")
struct JournalOwnershipConformanceTests {
    let owner = OwnerID("owner-a")
    let other = OwnerID("owner-b")
    let job = JobSnapshot.example(1)
    var id: JobID { job.record.id }

    @Test("keep a job while they live", arguments: JournalKind.allCases)
    func excludes(kind: JournalKind) async throws {
        let world = try await kind.makeWorld()
        defer { world.remove() }
        let (mine, theirs) = (try world.open(), try world.open())
        _ = try await mine.create(job, events: [], owner: owner)
        await #expect(throws: JournalFailure.owned(by: owner)) { _ = try await theirs.acquire(id, for: other) }
        await #expect(throws: JournalFailure.owned(by: owner)) { _ = try await mine.acquire(id, for: owner) }
        #expect(try await theirs.jobs(JobQuery()).map(\.owner) == [owner])
        await #expect(throws: JournalFailure.noSuchJob(JobID("x"))) {
            _ = try await mine.acquire(JobID("x"), for: owner)
        }
    }

    @Test("hand a job over with a higher epoch", arguments: JournalKind.allCases)
    func handsOver(kind: JournalKind) async throws {
        let world = try await kind.makeWorld()
        defer { world.remove() }
        let (mine, theirs) = (try world.open(), try world.open())
        let first = try await mine.create(job, events: [], owner: owner)
        try await mine.release(first)
        await #expect(throws: JournalFailure.stale) { try await mine.commit([.requested(.pause)], under: first) }
        let second = try await theirs.acquire(id, for: other)
        #expect(second == Lease(job: id, owner: other, epoch: 2))
        try await mine.release(first)
        try await theirs.commit([job.next(.upload, .running(AttemptState()))], under: second)
        #expect(try await mine.snapshot(of: id)?.steps[.upload]?.version == 1)
    }

    @Test("let a job go, and end it, in the transaction that says so", arguments: JournalKind.allCases)
    func letsGoInOneTransaction(kind: JournalKind) async throws {
        let world = try await kind.makeWorld()
        defer { world.remove() }
        let (mine, theirs) = (try world.open(), try world.open())
        let first = try await mine.create(job, events: [], owner: owner)
        try await mine.commit([.released(.noNetwork), .requested(nil)], under: first)
        await #expect(throws: JournalFailure.stale) { try await mine.commit([.requested(.pause)], under: first) }
        let second = try await theirs.acquire(id, for: other)
        try await theirs.commit([.ended(Timestamp(milliseconds: 5))], under: second)
        #expect(try await mine.jobs(JobQuery()).map(\.owner) == [nil])
        #expect(try await mine.acquire(id, for: owner).epoch == 3)
    }

    @Test("lose their jobs at once when they are killed", arguments: JournalKind.allCases)
    func freesDead(kind: JournalKind) async throws {
        let world = try await kind.makeWorld()
        defer { world.remove() }
        let (mine, theirs) = (try world.open(), try world.open())
        _ = try await mine.create(job, events: [], owner: owner)
        await world.kill(owner, mine)
        #expect(try await theirs.jobs(JobQuery()).map(\.owner) == [nil])
        #expect(try await theirs.acquire(id, for: other).epoch == 2)
    }

    @Test(
        "know by the clock alone that a job may be another's after they were stopped", arguments: JournalKind.allCases)
    func doubts(kind: JournalKind) async throws {
        let world = try await kind.makeWorld()
        defer { world.remove() }
        let (mine, theirs) = (try world.open(), try world.open())
        let first = try await mine.create(job, events: [], owner: owner)
        #expect(mine.holds(first), "from its first transaction on")
        let kept = try await mine.create(.example(2), events: [], owner: owner)
        try await mine.commit([.requested(nil)], under: first)
        #expect(mine.holds(first) && mine.holds(kept))
        await world.stop(owner)
        #expect(!mine.holds(first) && !mine.holds(kept))
        _ = try await theirs.acquire(id, for: other)
        try await mine.commit([.requested(nil)], under: kept)
        #expect(!mine.holds(first) && mine.holds(kept))
        try await mine.release(kept)
        #expect(!mine.holds(kept))
    }

    @Test("hold a job at once that comes after a long time without any", arguments: JournalKind.allCases)
    func holdsAfterIdleness(kind: JournalKind) async throws {
        let world = try await kind.makeWorld()
        defer { world.remove() }
        let mine = try world.open()
        try await mine.release(try await mine.create(job, events: [], owner: owner))
        await world.stop(owner)
        let again = try await mine.acquire(id, for: owner)
        #expect(mine.holds(again))
    }

    @Test("are refused once they were stopped and another has taken over", arguments: JournalKind.allCases)
    func refusesStopped(kind: JournalKind) async throws {
        let world = try await kind.makeWorld()
        defer { world.remove() }
        let (mine, theirs) = (try world.open(), try world.open())
        let first = try await mine.create(job, events: [], owner: owner)
        await world.stop(owner)
        let second = try await theirs.acquire(id, for: other)
        await #expect(throws: JournalFailure.stale) {
            try await mine.commit([job.next(.upload, .cancelled)], under: first)
        }
        try await mine.release(first)
        try await theirs.commit([job.next(.upload, .running(AttemptState()))], under: second)
        #expect(try await theirs.snapshot(of: id)?.steps[.upload]?.state == .running(AttemptState()))
    }

    @Test("go on when they were stopped and nobody came", arguments: JournalKind.allCases)
    func goesOn(kind: JournalKind) async throws {
        let world = try await kind.makeWorld()
        defer { world.remove() }
        let (mine, theirs) = (try world.open(), try world.open())
        let lease = try await mine.create(job, events: [], owner: owner)
        await world.stop(owner)
        try await mine.commit([job.next(.upload, .running(AttemptState()))], under: lease)
        await #expect(throws: JournalFailure.owned(by: owner)) { _ = try await theirs.acquire(id, for: other) }
    }

    @Test("have none of the jobs of a killed owner whose name they bear", arguments: JournalKind.allCases)
    func startsAnew(kind: JournalKind) async throws {
        let world = try await kind.makeWorld()
        defer { world.remove() }
        let mine = try world.open()
        let lease = try await mine.create(job, events: [], owner: owner)
        await world.kill(owner, mine)
        let again = try world.open()
        let epochs = try await again.acquire(id, for: owner).epoch
        #expect(epochs == 2)
        await #expect(throws: JournalFailure.stale) { try await again.commit([], under: lease) }
    }

    @Test("are told of requests, and only a living one is", arguments: JournalKind.allCases)
    func tellsRequests(kind: JournalKind) async throws {
        let world = try await kind.makeWorld()
        defer { world.remove() }
        let (mine, theirs) = (try world.open(), try world.open())
        let lease = try await mine.create(job, events: [], owner: owner)
        var requests = mine.requests(for: owner).makeAsyncIterator()
        #expect(try await theirs.post(.pause, to: id))
        #expect(await requests.next() == id)
        #expect(try await mine.snapshot(of: id)?.request == .pause)
        try await mine.commit([.requested(nil)], under: lease)
        try await mine.release(lease)
        #expect(try await theirs.post(.cancel, to: id) == false)
        #expect(try await mine.snapshot(of: id)?.request == .cancel)
        await #expect(throws: JournalFailure.noSuchJob(JobID("x"))) { _ = try await mine.post(.pause, to: JobID("x")) }
    }

    @Test("find what was asked before they listened", arguments: JournalKind.allCases)
    func findsEarlierRequests(kind: JournalKind) async throws {
        let world = try await kind.makeWorld()
        defer { world.remove() }
        let (mine, theirs) = (try world.open(), try world.open())
        _ = try await mine.create(job, events: [], owner: owner)
        #expect(try await theirs.post(.cancel, to: id))
        var requests = mine.requests(for: owner).makeAsyncIterator()
        #expect(await requests.next() == id)
    }

    @Test("hear no more once the journal is closed", arguments: JournalKind.allCases)
    func endsRequests(kind: JournalKind) async throws {
        let world = try await kind.makeWorld()
        defer { world.remove() }
        let mine = try world.open()
        _ = try await mine.create(job, events: [], owner: owner)
        let requests = mine.requests(for: owner)
        await world.kill(owner, mine)
        for await _ in requests { Issue.record("nobody asked for anything") }
    }
}
