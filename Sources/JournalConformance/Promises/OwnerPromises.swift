import JSONPath
import PipelineCore

/// The trials of who may write, and how an owner is reached.
enum OwnerPromises {
    static let owner = OwnerID("owner-a")
    static let other = OwnerID("owner-b")
    static let job = JobSnapshot.example(1)
    static var id: JobID { job.record.id }

    static func excludes(_ world: any JournalWorld, _ check: ConformanceCheck) async throws {
        let (mine, theirs) = (try world.open(), try world.open())
        _ = try await mine.create(job, events: [], owner: owner)
        await check.expect(throws: JournalFailure.owned(by: owner)) { _ = try await theirs.acquire(id, for: other) }
        await check.expect(throws: JournalFailure.owned(by: owner)) { _ = try await mine.acquire(id, for: owner) }
        check.expect(try await theirs.jobs(JobQuery()).map(\.owner) == [owner])
        await check.expect(throws: JournalFailure.noSuchJob(JobID("x"))) {
            _ = try await mine.acquire(JobID("x"), for: owner)
        }
    }

    static func handsOver(_ world: any JournalWorld, _ check: ConformanceCheck) async throws {
        let (mine, theirs) = (try world.open(), try world.open())
        let first = try await mine.create(job, events: [], owner: owner)
        try await mine.release(first)
        await check.expect(throws: JournalFailure.stale) { try await mine.commit([.requested(.pause)], under: first) }
        let second = try await theirs.acquire(id, for: other)
        check.expect(second == Lease(job: id, owner: other, epoch: 2))
        try await mine.release(first)
        try await theirs.commit([job.next(.upload, .running(AttemptState()))], under: second)
        check.expect(try await mine.snapshot(of: id)?.steps[.upload]?.version == 1)
    }

    static func letsGoInOneTransaction(_ world: any JournalWorld, _ check: ConformanceCheck) async throws {
        let (mine, theirs) = (try world.open(), try world.open())
        let first = try await mine.create(job, events: [], owner: owner)
        try await mine.commit([.released(.noNetwork), .requested(nil)], under: first)
        await check.expect(throws: JournalFailure.stale) { try await mine.commit([.requested(.pause)], under: first) }
        let second = try await theirs.acquire(id, for: other)
        try await theirs.commit([.ended(Timestamp(milliseconds: 5))], under: second)
        check.expect(try await mine.jobs(JobQuery()).map(\.owner) == [nil])
        check.expect(try await mine.acquire(id, for: owner).epoch == 3)
    }

    static func freesDead(_ world: any JournalWorld, _ check: ConformanceCheck) async throws {
        let (mine, theirs) = (try world.open(), try world.open())
        _ = try await mine.create(job, events: [], owner: owner)
        await world.kill(owner, mine)
        check.expect(try await theirs.jobs(JobQuery()).map(\.owner) == [nil])
        check.expect(try await theirs.acquire(id, for: other).epoch == 2)
    }

    static func doubts(_ world: any JournalWorld, _ check: ConformanceCheck) async throws {
        let (mine, theirs) = (try world.open(), try world.open())
        let first = try await mine.create(job, events: [], owner: owner)
        check.expect(mine.holds(first), "from its first transaction on")
        let kept = try await mine.create(.example(2), events: [], owner: owner)
        try await mine.commit([.requested(nil)], under: first)
        check.expect(mine.holds(first) && mine.holds(kept))
        await world.stop(owner)
        check.expect(!mine.holds(first) && !mine.holds(kept))
        _ = try await theirs.acquire(id, for: other)
        try await mine.commit([.requested(nil)], under: kept)
        check.expect(!mine.holds(first) && mine.holds(kept))
        try await mine.release(kept)
        check.expect(!mine.holds(kept))
    }

    static func holdsAfterIdleness(_ world: any JournalWorld, _ check: ConformanceCheck) async throws {
        let mine = try world.open()
        try await mine.release(try await mine.create(job, events: [], owner: owner))
        await world.stop(owner)
        let again = try await mine.acquire(id, for: owner)
        check.expect(mine.holds(again))
    }

    static func refusesStopped(_ world: any JournalWorld, _ check: ConformanceCheck) async throws {
        let (mine, theirs) = (try world.open(), try world.open())
        let first = try await mine.create(job, events: [], owner: owner)
        await world.stop(owner)
        let second = try await theirs.acquire(id, for: other)
        await check.expect(throws: JournalFailure.stale) {
            try await mine.commit([job.next(.upload, .cancelled)], under: first)
        }
        try await mine.release(first)
        try await theirs.commit([job.next(.upload, .running(AttemptState()))], under: second)
        check.expect(try await theirs.snapshot(of: id)?.steps[.upload]?.state == .running(AttemptState()))
    }

    static func goesOn(_ world: any JournalWorld, _ check: ConformanceCheck) async throws {
        let (mine, theirs) = (try world.open(), try world.open())
        let lease = try await mine.create(job, events: [], owner: owner)
        await world.stop(owner)
        try await mine.commit([job.next(.upload, .running(AttemptState()))], under: lease)
        await check.expect(throws: JournalFailure.owned(by: owner)) { _ = try await theirs.acquire(id, for: other) }
    }

    static func startsAnew(_ world: any JournalWorld, _ check: ConformanceCheck) async throws {
        let mine = try world.open()
        let lease = try await mine.create(job, events: [], owner: owner)
        await world.kill(owner, mine)
        let again = try world.open()
        let epochs = try await again.acquire(id, for: owner).epoch
        check.expect(epochs == 2)
        await check.expect(throws: JournalFailure.stale) { try await again.commit([], under: lease) }
    }

    static func tellsRequests(_ world: any JournalWorld, _ check: ConformanceCheck) async throws {
        let (mine, theirs) = (try world.open(), try world.open())
        let lease = try await mine.create(job, events: [], owner: owner)
        var requests = mine.requests(for: owner).makeAsyncIterator()
        var others = mine.requests(for: owner).makeAsyncIterator()
        check.expect(try await theirs.post(.pause, to: id))
        check.expect(await requests.next() == id)
        check.expect(await others.next() == id, "each stream has all of them")
        check.expect(try await mine.snapshot(of: id)?.request == .pause)
        try await mine.commit([.requested(nil), .released(.paused)], under: lease)
        check.expect(try await theirs.post(.pause, to: id) == false)
        check.expect(try await mine.snapshot(of: id)?.request == nil, "it has paused already")
        let again = try await mine.acquire(id, for: owner)
        try await mine.commit([.taken(.background)], under: again)
        check.expect(try await theirs.post(.pause, to: id))
        check.expect(try await mine.snapshot(of: id)?.request == .pause, "it goes on by now")
        try await mine.commit([.requested(nil)], under: again)
        try await mine.release(again)
        check.expect(try await theirs.post(.cancel, to: id) == false)
        check.expect(try await mine.snapshot(of: id)?.request == .cancel)
        await check.expect(throws: JournalFailure.noSuchJob(JobID("x"))) {
            _ = try await mine.post(.pause, to: JobID("x"))
        }
    }

    static func keepsCancellation(_ world: any JournalWorld, _ check: ConformanceCheck) async throws {
        let (mine, theirs) = (try world.open(), try world.open())
        let lease = try await mine.create(job, events: [], owner: owner)
        func expect(_ request: JobRequest?, _ what: String) async throws {
            check.expect(try await mine.inbox(of: id)?.request == request, what)
        }
        _ = try await theirs.post(.pause, to: id)
        try await mine.commit([.answered(.cancel)], under: lease)
        try await expect(.pause, "another request was done")
        try await mine.commit([.answered(.pause)], under: lease)
        try await expect(nil, "it has paused")
        _ = try await theirs.post(.pause, to: id)
        _ = try await theirs.post(.cancel, to: id)
        try await expect(.cancel, "a cancellation takes the place of a pause")
        _ = try await theirs.post(.pause, to: id)
        try await expect(.cancel, "a pause takes the place of no cancellation")
        try await mine.commit([.answered(.pause), .released(.paused)], under: lease)
        try await expect(.cancel, "the job was let go")
        let again = try await mine.acquire(id, for: owner)
        try await mine.commit([.taken(.background), .answered(.pause)], under: again)
        try await expect(.cancel, "the job was taken up")
        try await mine.commit([.answered(.cancel)], under: again)
        try await expect(nil, "it is done")
    }

    static func findsEarlierRequests(_ world: any JournalWorld, _ check: ConformanceCheck) async throws {
        let (mine, theirs) = (try world.open(), try world.open())
        _ = try await mine.create(job, events: [], owner: owner)
        check.expect(try await theirs.post(.cancel, to: id))
        var requests = mine.requests(for: owner).makeAsyncIterator()
        check.expect(await requests.next() == id)
    }

    static func endsRequests(_ world: any JournalWorld, _ check: ConformanceCheck) async throws {
        let mine = try world.open()
        _ = try await mine.create(job, events: [], owner: owner)
        let requests = mine.requests(for: owner)
        await world.kill(owner, mine)
        for await _ in requests { check.expect(false, "nobody asked for anything") }
    }
}
