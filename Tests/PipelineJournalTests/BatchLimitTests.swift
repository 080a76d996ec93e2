import PipelineCore
import Testing

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

    @Test("when so many in a row failed alike; a bad row says nothing of the service, nor does a process that ended")
    func streak() {
        var streak = FailureStreak()
        var item = ItemRecord(number: 1, key: "a", state: .failed)
        item.failure = ItemFailure(stage: "model", failure: StepFailure("no credit"))
        for _ in 0..<3 { streak.add(item) }
        var bad = item
        bad.failure = ItemFailure(stage: nil, failure: StepFailure("line 2"))
        streak.add(bad)
        bad = item
        bad.state = .unknown
        bad.failure?.wasCutOff = true
        streak.add(bad)
        #expect(streak.count == 3)
        var stopped = batch(BatchSettings(stopAfter: 3), [.failed: 3, .pending: 9])
        stopped.streak = streak
        #expect(stopped.obstacle == .sameFailure)
        item.state = .succeeded
        streak.add(item)
        #expect(streak.count == 0)
    }

    /// Ten models that each failed for a reason of its own stopped the rest, for the poll that said so had the status 200.
    @Test("not when the content of good answers says for each another reason")
    func ownReasons() {
        func streak(_ failures: [StepFailure]) -> Int {
            failures.reduce(into: FailureStreak()) { streak, failure in
                var item = ItemRecord(number: 1, key: "a", state: .failed)
                item.failure = ItemFailure(stage: "model", failure: failure)
                streak.add(item)
            }.count
        }
        #expect(streak([StepFailure("no face", status: 200), StepFailure("too dark", status: 200)]) == 1)
        #expect(streak([StepFailure("no credit", status: 200), StepFailure("no credit", status: 200)]) == 2)
        #expect(streak(["a", "b"].map { StepFailure("no credit for \($0)", status: 402) }) == 2)
    }

    /// Each item was paid for whose failure named it.
    @Test("also when each sentence names its item and its files")
    func namedItems() {
        let streak = (1...10).reduce(into: FailureStreak()) { streak, number in
            var item = ItemRecord(number: number, key: "talks/day \(number).wav", state: .failed)
            item.failure = ItemFailure(
                stage: "get", failure: StepFailure("can't write /out/day \(number).txt.part: Read-only file system"))
            streak.add(item)
        }
        #expect(streak.count == 10)
        #expect(streak.group?.code == "can't write …: Read-only file system")
    }

    @Test("by what failed before its reading neither in the end nor before")
    func aside() {
        var batch = batch(BatchSettings(tolerance: .count(1)), [.failed: 3, .cancelled: 1, .succeeded: 2])
        #expect(batch.outcome == .failed)
        batch.aside = [.failed: 3, .cancelled: 1]
        #expect(batch.outcome == .succeeded)
        batch.counts = [.failed: 4, .cancelled: 1, .pending: 1]
        #expect(batch.obstacle == nil)
        batch.counts[.failed] = 5
        #expect(batch.obstacle == .tooManyFailures)
    }

    @Test("perhaps, while rows that are still to come may name what failed before")
    func mayMeetObstacle() {
        var batch = batch(BatchSettings(tolerance: .count(2)), [.failed: 3, .pending: 4], isRead: false)
        #expect(!batch.mayMeetObstacle, "all of them are of this reading")
        batch.aside = [.failed: 3]
        #expect(batch.mayMeetObstacle && batch.obstacle == nil)
        batch.settings.forgiven = 1
        #expect(!batch.mayMeetObstacle)
        batch.settings = BatchSettings(tolerance: FailureTolerance("50%"))
        #expect(!batch.mayMeetObstacle)
        batch.settings = BatchSettings(tolerance: FailureTolerance("10%"))
        #expect(batch.mayMeetObstacle)
        batch.settings = BatchSettings()
        #expect(!batch.mayMeetObstacle, "everything is tried")
    }

    @Test("unknown when an item is, whatever else failed")
    func unknown() {
        #expect(batch(BatchSettings(), [.failed: 1, .unknown: 1]).outcome == .unknown)
        #expect(batch(BatchSettings(), [.suspended: 1]).outcome == nil)
        #expect(batch(BatchSettings(), [.succeeded: 1], isRead: false).outcome == nil)
    }

    @Test("for its money from the first cost on; before ten items have ended at most ten run")
    func money() {
        func affordable(
            _ counts: [ItemRecord.State: Int], cost: Double?, spend: Double = 10, atOnce: Int = 64
        ) -> Int {
            var batch = batch(BatchSettings(atOnce: atOnce, spend: spend), counts)
            batch.cost = cost
            return batch.affordableCount
        }
        #expect(affordable([.pending: 60], cost: nil) == 10)
        #expect(affordable([.pending: 60], cost: nil, atOnce: 3) == 3)
        #expect(affordable([.succeeded: 1, .pending: 59], cost: 2) == 4, "four more for 2 each")
        #expect(affordable([.succeeded: 19, .pending: 1], cost: 1.9, spend: 2) == 1, "1.9 and 0.1 do not pass 2")
        #expect(affordable([.succeeded: 20, .pending: 1], cost: 2, spend: 2) == 0)
        #expect(affordable([.succeeded: 5, .pending: 55], cost: 10) == 0)
        #expect(affordable([.failed: 5, .pending: 55], cost: 10) == 0, "what failed has cost as well")
        #expect(affordable([.failed: 4, .pending: 56], cost: 8) == 1)
        #expect(affordable([.succeeded: 4, .failed: 5], cost: 8, spend: 1000) == 10)
        #expect(affordable([.succeeded: 5, .failed: 5], cost: 10, spend: 1000) == 64)
        #expect(affordable([.failed: 500, .pending: 60], cost: nil) == 10, "bad rows are no sample")
        #expect(affordable([.succeeded: 9, .pending: 51], cost: nil) == 10)
        #expect(affordable([.succeeded: 10, .pending: 50], cost: nil) == 0, "its document gives no number")
        #expect(affordable([.succeeded: 10, .pending: 50], cost: 0) == 64, "they were free")
        #expect(affordable([.succeeded: 9, .failed: 3, .pending: 50], cost: 0) == 10, "no sample yet")
        var mended = batch(BatchSettings(spend: 10), [.succeeded: 50, .pending: 50])
        mended.settings.unpriced = 50
        #expect(mended.affordableCount == 10, "those of before say nothing")
    }

    /// All that was ever spent was once the cost of the items that had ended by now: none at first, then one.
    @Test("for its money by what each end has cost, also of items that were begun anew since")
    func otherEnds() {
        var again = batch(BatchSettings(spend: 150), [.pending: 40])
        (again.cost, again.otherEnds) = (80, 40)
        #expect(again.affordableCount == 10)
        (again.cost, again.counts) = (120, [.succeeded: 20, .pending: 20])
        #expect(again.affordableCount == 15)
    }
}
