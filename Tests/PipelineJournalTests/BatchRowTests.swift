import JSONPath
import PipelineCore
import Testing

@testable import PipelineJournal

/// The rows of batches: counts kept by the commits that change items, keys that stand once, leases.
@Suite("A batch's rows")
struct BatchRowTests {
    private let owner = OwnerID("owner-a")
    private let job: JobSnapshot = {
        var job = JobSnapshot.example(1, key: "june")
        job.steps = [:]
        return job
    }()

    private func withBatch(
        _ settings: BatchSettings = BatchSettings(), _ body: (SQLiteJournal, Lease) async throws -> Void
    ) async throws {
        let world = try SQLiteWorld()
        defer { world.remove() }
        let journal = try world.openSQLite()
        let batch = BatchRecord(sources: ["video=*.mov"], folder: "/videos", settings: settings)
        let lease = try await journal.create(batch, job: job, events: [], owner: owner)
        try await body(journal, lease)
        await journal.close()
    }

    private func rows(_ keys: String...) -> [NewItem] {
        keys.map { NewItem(key: $0, line: nil, inputs: ["video": .string("/videos/" + $0)]) }
    }

    private func add(
        _ items: [NewItem], to lease: Lease, _ journal: SQLiteJournal, isRead: Bool = false, replaces: Bool = false
    ) async throws -> AddedItems {
        try await journal.add(
            items, place: ReadingPlace(source: 0, path: items.last?.key), isRead: isRead, replacesChanged: replaces,
            to: lease)
    }

    @Test("come back as they were written")
    func roundTrip() async throws {
        let settings = BatchSettings(atOnce: 3, tolerance: .percent(2.5), stopAfter: 4, results: "/out/r.jsonl")
        try await withBatch(settings) { journal, lease in
            _ = try await add(rows("a", "b"), to: lease, journal)
            let batch = try #require(try await journal.batch(lease.job))
            #expect(batch.settings == settings)
            #expect(batch.sources == ["video=*.mov"] && batch.folder == "/videos" && !batch.isRead)
            #expect(batch.place == ReadingPlace(source: 0, path: "b"))
            var item = try #require(try await journal.claimItems(1, of: lease).first)
            item.state = .failed
            item.ended = .at(9)
            item.seconds = 1.5
            item.failure = ItemFailure(stage: "model", failure: StepFailure("no credit"))
            item.results = ["score": 1]
            item.files = ["/out/a.txt"]
            item.job = JobID("x")
            _ = try await journal.finish(item, of: lease)
            #expect(try await journal.item("a", of: lease.job) == item)
            #expect(try await journal.item("1", of: lease.job) == item, "by its number")
            let bare = try #require(try await journal.item("b", of: lease.job))
            #expect(bare.results.isEmpty && bare.files.isEmpty && bare.failure == nil)
        }
    }

    @Test("count each state with the commit that changes it")
    func counts() async throws {
        try await withBatch { journal, lease in
            _ = try await add(rows("a", "b", "c", "d"), to: lease, journal, isRead: true)
            let claimed = try await journal.claimItems(3, of: lease)
            #expect(claimed.map(\.key) == ["a", "b", "c"])
            for (item, state) in zip(claimed, [ItemRecord.State.succeeded, .failed, .unknown]) {
                var item = item
                item.state = state
                _ = try await journal.finish(item, of: lease)
            }
            let batch = try #require(try await journal.batch(lease.job))
            #expect(batch.counts.filter { $0.value > 0 } == [.pending: 1, .succeeded: 1, .failed: 1, .unknown: 1])
            var counted: [ItemRecord.State: Int] = [:]
            for item in try await journal.items(of: lease.job, in: nil, after: 0, limit: 100) {
                counted[item.state, default: 0] += 1
            }
            #expect(counted == batch.counts.filter { $0.value > 0 })
        }
    }

    @Test("hold a key once: twice in one reading is a duplicate, known from an earlier one is known")
    func keys() async throws {
        try await withBatch { journal, lease in
            let first = try await add(rows("a", "b", "a"), to: lease, journal, isRead: true)
            #expect(first.added == 2 && first.duplicates == 1 && first.known == 0)
            #expect(try await journal.batch(lease.job)?.count(.duplicate) == 1)
            let record = try #require(try await journal.batch(lease.job))
            try await journal.reread(lease, as: record, of: job.record)
            #expect(try await journal.batch(lease.job)?.count(.duplicate) == 0, "the new reading tells them again")
            let second = try await add(rows("a", "c", "c"), to: lease, journal, isRead: true)
            #expect(second.added == 1 && second.duplicates == 1 && second.known == 1)
        }
    }

    @Test("leave an item whose row has changed alone, or make it a new one of its key")
    func changes() async throws {
        try await withBatch { journal, lease in
            _ = try await add(rows("a"), to: lease, journal, isRead: true)
            var item = try #require(try await journal.claimItems(1, of: lease).first)
            item.state = .succeeded
            _ = try await journal.finish(item, of: lease)
            let record = try #require(try await journal.batch(lease.job))
            try await journal.reread(lease, as: record, of: job.record)
            let other = [NewItem(key: "a", line: nil, inputs: ["video": "/elsewhere"])]
            #expect(try await add(other, to: lease, journal).changed == ["a"])
            #expect(try await journal.item("a", of: lease.job)?.state == .succeeded)
            _ = try await add(other, to: lease, journal, replaces: true)
            let again = try #require(try await journal.item("a", of: lease.job))
            #expect(again.state == .pending && again.number == 2 && again.inputs == ["video": "/elsewhere"])
            #expect(try await journal.batch(lease.job)?.counts.filter { $0.value > 0 } == [.pending: 1])
        }
    }

    @Test("forget a bad row when the sources are read again, and never begin it")
    func badRows() async throws {
        try await withBatch { journal, lease in
            let bad = NewItem(key: "line 2", line: 2, inputs: [:], failure: StepFailure("line 2: no number"))
            _ = try await add(rows("a") + [bad], to: lease, journal, isRead: true)
            #expect(try await journal.retryItems(in: [.failed], keys: nil, of: lease) == 0)
            #expect(try await journal.failures(of: lease.job, limit: 5).map(\.example) == ["line 2"])
            let record = try #require(try await journal.batch(lease.job))
            #expect(record.count(.failed) == 1)
            try await journal.reread(lease, as: record, of: job.record)
            #expect(try await journal.batch(lease.job)?.counts.filter { $0.value > 0 } == [.pending: 1])
        }
    }

    @Test("begin what failed anew with the next attempt, and what was under way with the same")
    func retries() async throws {
        try await withBatch { journal, lease in
            _ = try await add(rows("a", "b"), to: lease, journal, isRead: true)
            var failed = try #require(try await journal.claimItems(2, of: lease).first)
            failed.state = .failed
            failed.ended = .at(5)
            _ = try await journal.finish(failed, of: lease)
            #expect(try await journal.retryItems(in: [.failed], keys: ["a"], of: lease) == 1)
            #expect(try await journal.retryItems(in: [.running], keys: nil, of: lease) == 1)
            let again = try await journal.claimItems(5, of: lease)
            #expect(again.map(\.attempt) == [2, 1])
            #expect(again.map(\.ended) == [.at(5), nil], "an end that is known tells a retry from a takeover")
        }
    }

    @Test("take no write under a stale lease")
    func stale() async throws {
        try await withBatch { journal, lease in
            try await journal.release(lease)
            let next = try await journal.acquire(lease.job, for: owner)
            await #expect(throws: JournalFailure.stale) { _ = try await add(rows("a"), to: lease, journal) }
            await #expect(throws: JournalFailure.stale) { _ = try await journal.claimItems(1, of: lease) }
            _ = try await add(rows("a"), to: next, journal)
            #expect(try await journal.claimItems(1, of: next).count == 1)
        }
    }

    @Test("group failures by stage and status, the largest first, each with its first item")
    func groups() async throws {
        try await withBatch { journal, lease in
            _ = try await add(rows("a", "b", "c"), to: lease, journal, isRead: true)
            for (item, title) in zip(try await journal.claimItems(3, of: lease), ["x", "y", "y"]) {
                var item = item
                item.state = .failed
                item.failure = ItemFailure(stage: "model", failure: StepFailure(title))
                _ = try await journal.finish(item, of: lease)
            }
            let groups = try await journal.failures(of: lease.job, limit: 5)
            #expect(groups.map(\.count) == [2, 1] && groups.map(\.example) == ["b", "a"])
            #expect(try await journal.batch(lease.job)?.streak.count == 2)
        }
    }

    @Test("stand in lists as one job, and go with it")
    func list() async throws {
        try await withBatch { journal, lease in
            var record = JobSnapshot.example(2, key: "june.1").record
            record.item = BatchItem(batch: lease.job, key: "a")
            let one = JobSnapshot(record: record, steps: [:], mode: .attached)
            let own = try await journal.create(one, events: [], owner: owner)
            #expect(try await journal.jobs(JobQuery()).map(\.snapshot.record.key) == ["june"])
            #expect(try await journal.jobs(JobQuery(key: "june.1")).first?.snapshot.record.item?.key == "a")
            try await journal.commit([.ended(.at(3))], under: own)
            try await journal.commit([.ended(.at(4))], under: lease)
            try await journal.remove(lease.job)
            #expect(try await journal.jobs(JobQuery(key: "june.1")).isEmpty)
        }
    }
}

/// What stops a batch, by counts alone.
@Suite("A batch stops")
struct BatchLimitTests {
    private func batch(_ settings: BatchSettings, _ counts: [ItemRecord.State: Int], isRead: Bool = true) -> BatchRecord
    {
        var batch = BatchRecord(sources: [], folder: "/", settings: settings)
        batch.counts = counts
        batch.isRead = isRead
        return batch
    }

    @Test("beyond its tolerance while something is pending, and fails with nothing pending")
    func tolerance() {
        let settings = BatchSettings(tolerance: .count(2))
        #expect(batch(settings, [.failed: 2, .pending: 1]).obstacle == nil)
        #expect(batch(settings, [.failed: 3, .pending: 1]).obstacle == .tooManyFailures)
        #expect(batch(settings, [.failed: 3]).obstacle == nil)
        #expect(batch(settings, [.failed: 3, .succeeded: 9]).outcome == .failed)
        #expect(batch(settings, [.failed: 2, .succeeded: 9]).outcome == .succeeded)
    }

    @Test("by a share of all items once they are read, before that from a hundred on")
    func share() throws {
        let tolerance = try #require(FailureTolerance("5%"))
        #expect(!tolerance.isExceeded(failures: 50, items: 99, isRead: false))
        #expect(tolerance.isExceeded(failures: 6, items: 100, isRead: false))
        #expect(tolerance.isExceeded(failures: 1, items: 10, isRead: true))
        #expect(FailureTolerance("101%") == nil && FailureTolerance("-1") == nil && FailureTolerance("x") == nil)
        #expect(tolerance.text == "5%" && FailureTolerance("7")?.text == "7")
    }

    @Test("when so many in a row failed alike; a bad row says nothing of the service")
    func streak() {
        var streak = FailureStreak()
        var item = ItemRecord(number: 1, key: "a", state: .failed)
        item.failure = ItemFailure(stage: "model", failure: StepFailure("no credit"))
        for _ in 0..<3 { streak.add(item) }
        var bad = item
        bad.failure = ItemFailure(stage: nil, failure: StepFailure("line 2"))
        streak.add(bad)
        #expect(streak.count == 3)
        var stopped = batch(BatchSettings(stopAfter: 3), [.failed: 3, .pending: 9])
        stopped.streak = streak
        #expect(stopped.obstacle == .sameFailure)
        item.state = .succeeded
        streak.add(item)
        #expect(streak.count == 0)
    }

    @Test("unknown when an item is, whatever else failed")
    func unknown() {
        #expect(batch(BatchSettings(), [.failed: 1, .unknown: 1]).outcome == .unknown)
        #expect(batch(BatchSettings(), [.suspended: 1]).outcome == nil)
        #expect(batch(BatchSettings(), [.succeeded: 1], isRead: false).outcome == nil)
    }
}
