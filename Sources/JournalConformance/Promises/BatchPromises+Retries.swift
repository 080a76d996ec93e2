import JSONPath
import PipelineCore

/// Items that are begun again, and those that nobody wants.
extension BatchPromises {
    static func retriesNamed(_ world: any JournalWorld, _ check: ConformanceCheck) async throws {
        try await withBatch(world, check) { journal, lease in
            _ = try await add(rows("a", "b", "c", "d"), to: lease, journal, isRead: true)
            for begun in try await journal.beginItems(4, of: lease) {
                var item = begun.item
                (item.state, item.ended) = (item.key == "d" ? .succeeded : .failed, .at(5))
                try await journal.finish(item, under: begun.lease)
            }
            var record = try check.require(try await journal.batch(lease.job))
            record.place = nil
            try await journal.reread(lease, as: record, of: job.record)
            check.expect(try await journal.items(of: lease.job, in: [.pending], after: 0, limit: 9).isEmpty)
            let mended = NewItem(key: "b", line: nil, inputs: ["video": "/videos/mended"])
            _ = try await add(
                rows("a") + [mended] + rows("d"), to: lease, journal, isRead: true, KnownItemRule(retries: [.failed]))
            let again = try await journal.beginItems(9, of: lease)
            check.expect(again.map(\.item.key) == ["a"], "not the mended one, and not the one that no row names")
            check.expect(again.map(\.item.attempt) == [2])
            check.expect(
                try await journal.batch(lease.job)?.counts.filter { $0.value > 0 }
                    == [.running: 1, .failed: 2, .succeeded: 1])
        }
    }

    static func mendedBeforeTheyBegin(_ world: any JournalWorld, _ check: ConformanceCheck) async throws {
        try await withBatch(world, check) { journal, lease in
            _ = try await add(rows("a", "b", "c", "d"), to: lease, journal, isRead: true)
            let begun = try check.require(try await journal.beginItems(1, of: lease).first)
            var item = begun.item
            (item.state, item.ended) = (.failed, .at(5))
            item.failure = ItemFailure(stage: "model", failure: StepFailure("no credit"))
            try await journal.finish(item, under: begun.lease)
            check.expect(try await journal.retryItems(nil, in: [.failed], of: lease) == 1)
            var record = try check.require(try await journal.batch(lease.job))
            record.place = nil
            try await journal.reread(lease, as: record, of: job.record)
            check.expect(try await journal.pendingItems(of: lease.job, limit: 9).isEmpty, "no row names them")
            func mended(_ key: String) -> NewItem { NewItem(key: key, line: nil, inputs: ["video": "/videos/mended"]) }
            let added = try await add([mended("a"), mended("b")] + rows("c"), to: lease, journal, isRead: true)
            check.expect(added.changed == ["a"], "nothing was done of the other")
            let pending = try await journal.pendingItems(of: lease.job, limit: 9)
            check.expect(Set(pending.map(\.key)) == ["b", "c"], "what was to begin again does not, as what is gone")
            check.expect(pending.first { $0.key == "b" }?.inputs == ["video": "/videos/mended"])
            let left = try check.require(try await journal.item("a", of: lease.job))
            check.expect(left.state == .failed && left.attempt == 1 && left.failure == item.failure, "as it was")
            let latest = try check.require(try await journal.batch(lease.job))
            check.expect(latest.counts.filter { $0.value > 0 } == [.failed: 1, .pending: 3])
            check.expect(latest.pendingCount == 2 && latest.aside == [.pending: 1])
            check.expect(try await journal.cancelItem(4, at: .at(9), of: lease.job))
            check.expect(try await journal.batch(lease.job)?.aside[.pending] ?? 0 == 0)
            check.expect(try await journal.retryItems(nil, in: [.failed], of: lease) == 1)
            try await journal.withdrawRetries(of: lease)
            check.expect(try await journal.item("a", of: lease.job) == left)
            check.expect(try await journal.batch(lease.job)?.pendingCount == 2)
        }
    }

    static func openSubmits(_ world: any JournalWorld, _ check: ConformanceCheck) async throws {
        try await withBatch(world, check) { journal, lease in
            _ = try await add(rows("a"), to: lease, journal, isRead: true)
            let begun = try check.require(try await journal.beginItems(1, of: lease).first)
            var submit = SubmitRecord(key: "k", generation: 1, digest: "d", phase: .sending)
            try await journal.commit([.submit(.upload, submit)], under: begun.lease)
            var item = begun.item
            (item.state, item.ended) = (.failed, .at(5))
            try await journal.finish(item, under: begun.lease)
            let record = try check.require(try await journal.batch(lease.job))
            let other = [NewItem(key: "a", line: nil, inputs: ["video": "/elsewhere"])]
            try await journal.reread(lease, as: record, of: job.record)
            let added = try await add(other, to: lease, journal, isRead: true, KnownItemRule(replacesChanged: true))
            check.expect(added.bad.map(\.key) == ["a"], "it may be at the service")
            check.expect(try await journal.item("a", of: lease.job)?.number == 1)
            let again = try await journal.acquire(begun.lease.job, for: owner)
            submit.phase = .refused
            try await journal.commit([.submit(.upload, submit)], under: again)
            try await journal.reread(lease, as: record, of: job.record)
            _ = try await add(other, to: lease, journal, isRead: true, KnownItemRule(replacesChanged: true))
            check.expect(try await journal.item("a", of: lease.job)?.state == .pending)
        }
    }

    static func retries(_ world: any JournalWorld, _ check: ConformanceCheck) async throws {
        try await withBatch(world, check) { journal, lease in
            _ = try await add(rows("a", "b"), to: lease, journal, isRead: true)
            let begun = try check.require(try await journal.beginItems(2, of: lease).first)
            var failed = begun.item
            failed.state = .failed
            failed.ended = .at(5)
            try await journal.finish(failed, under: begun.lease)
            check.expect(try await journal.retryItems(["a"], in: [.failed, .cancelled], of: lease) == 1)
            check.expect(
                try await journal.retryItems(nil, in: [.failed], of: lease) == 0, "what is under way is left alone")
            let again = try await journal.beginItems(5, of: lease)
            check.expect(again.map(\.item.key) == ["a"] && again.map(\.item.attempt) == [2])
            check.expect(again.first?.item.job == begun.lease.job, "the same job goes on")
            check.expect(try await journal.batch(lease.job)?.counts.filter { $0.value > 0 } == [.running: 2])
            try await journal.finish(failed, under: try check.require(again.first).lease)
            check.expect(try await journal.remove(begun.lease.job) == [begun.lease.job], "it alone")
            check.expect(try await journal.item("a", of: lease.job)?.job == nil, "its job was removed")
            check.expect(try await journal.retryItems(["a"], in: [.failed, .cancelled], of: lease) == 1)
            let another = try await journal.beginItems(5, of: lease)
            check.expect(another.map(\.item.key) == ["a"] && another.map(\.item.attempt) == [3], "another job begins")
        }
    }

    static func cancelled(_ world: any JournalWorld, _ check: ConformanceCheck) async throws {
        try await withBatch(world, check) { journal, lease in
            _ = try await add(rows("a", "b"), to: lease, journal, isRead: true)
            check.expect(try await journal.cancelItem(1, at: .at(5), of: lease.job))
            check.expect(try await !journal.cancelItem(1, at: .at(6), of: lease.job), "once")
            let item = try check.require(try await journal.item("a", of: lease.job))
            check.expect(item.state == .cancelled && item.ended == .at(5) && item.job == nil)
            let begun = try await journal.beginItems(2, of: lease)
            check.expect(begun.map(\.item.key) == ["b"], "it is not begun any more")
            check.expect(try await !journal.cancelItem(2, at: .at(6), of: lease.job), "it is its job's matter")
            check.expect(
                try await journal.batch(lease.job)?.counts.filter { $0.value > 0 } == [.cancelled: 1, .running: 1])
            check.expect(try await journal.retryItems(nil, in: [.failed], of: lease) == 0, "nobody wants it")
            check.expect(try await journal.retryItems(["a"], in: [.failed, .cancelled], of: lease) == 1)
            check.expect(try await journal.beginItems(2, of: lease).map(\.item.key) == ["a"])
            check.expect(try await !journal.cancelItem(1, at: .at(7), of: JobSnapshot.example(99).record.id))
        }
    }
}
