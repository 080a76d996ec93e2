import JSONPath
import PipelineCore

/// The rows of batches: counts kept by the commits that change items, keys that stand once, leases.
enum BatchPromises {
    static let owner = OwnerID("owner-a")
    static let job: JobSnapshot = {
        var job = JobSnapshot.example(1, key: "june")
        job.steps = [:]
        return job
    }()

    static func withBatch(
        _ world: any JournalWorld, _ check: ConformanceCheck, _ settings: BatchSettings = BatchSettings(),
        _ body: (any Journal & BatchJournal, Lease) async throws -> Void
    ) async throws {
        let journal = try check.require(try world.open() as? any Journal & BatchJournal)
        let batch = BatchRecord(sources: ["video=*.mov"], folder: "/videos", settings: settings)
        try await body(journal, try await journal.create(batch, job: job, events: [], owner: owner))
    }

    static func rows(_ keys: String...) -> [NewItem] {
        keys.map { NewItem(key: $0, line: nil, inputs: ["video": .string("/videos/" + $0)]) }
    }

    static func add(
        _ items: [NewItem], to lease: Lease, _ journal: any BatchJournal, isRead: Bool = false,
        _ known: KnownItemRule = KnownItemRule()
    ) async throws -> AddedItems {
        try await journal.add(
            items, place: ReadingPlace(source: 0, path: items.last?.key), isRead: isRead, known: known, to: lease)
    }

    static func roundTrip(_ world: any JournalWorld, _ check: ConformanceCheck) async throws {
        let settings = BatchSettings(atOnce: 3, tolerance: .percent(2.5), stopAfter: 4, results: "/out/r.jsonl")
        try await withBatch(world, check, settings) { journal, lease in
            _ = try await add(rows("a", "b"), to: lease, journal)
            let batch = try check.require(try await journal.batch(lease.job))
            check.expect(batch.settings == settings)
            check.expect(batch.sources == ["video=*.mov"] && batch.folder == "/videos" && !batch.isRead)
            check.expect(batch.place == ReadingPlace(source: 0, path: "b"))
            let begun = try check.require(try await journal.beginItems(1, of: lease).first)
            var item = begun.item
            check.expect(item.state == .running && item.job == begun.lease.job && item.attempt == 1)
            item.state = .failed
            item.ended = .at(9)
            item.seconds = 1.5
            item.failure = ItemFailure(stage: "model", failure: StepFailure("no credit"))
            item.results = ["score": 1]
            item.files = ["/out/a.txt"]
            try await journal.finish(item, under: begun.lease)
            check.expect(try await journal.item("a", of: lease.job) == item)
            check.expect(try await journal.item("1", of: lease.job) == item, "by its number")
            let bare = try check.require(try await journal.item("b", of: lease.job))
            check.expect(bare.results.isEmpty && bare.files.isEmpty && bare.failure == nil)
        }
    }

    static func counts(_ world: any JournalWorld, _ check: ConformanceCheck) async throws {
        try await withBatch(world, check) { journal, lease in
            _ = try await add(rows("a", "b", "c", "d"), to: lease, journal, isRead: true)
            let begun = try await journal.beginItems(3, of: lease)
            check.expect(begun.map(\.item.key) == ["a", "b", "c"])
            check.expect(try await journal.batch(lease.job)?.count(.running) == 3)
            for (begun, state) in zip(begun, [ItemRecord.State.succeeded, .failed, .unknown]) {
                var item = begun.item
                item.state = state
                item.ended = state == .unknown ? nil : .at(9)
                try await journal.finish(item, under: begun.lease)
            }
            let batch = try check.require(try await journal.batch(lease.job))
            check.expect(batch.counts.filter { $0.value > 0 } == [.pending: 1, .succeeded: 1, .failed: 1, .unknown: 1])
            var counted: [ItemRecord.State: Int] = [:]
            for item in try await journal.items(of: lease.job, in: nil, after: 0, limit: 100) {
                counted[item.state, default: 0] += 1
            }
            check.expect(counted == batch.counts.filter { $0.value > 0 })
        }
    }

    /// Sums of binary fractions miss, by how much depends on the order of the commits.
    static func costs(_ world: any JournalWorld, _ check: ConformanceCheck) async throws {
        try await withBatch(world, check) { journal, lease in
            let items = (1...19).map { NewItem(key: "item-\($0)", line: nil, inputs: [:]) }
            _ = try await add(items, to: lease, journal, isRead: true)
            for begun in try await journal.beginItems(19, of: lease) {
                var item = begun.item
                (item.state, item.ended, item.cost) = (.succeeded, .at(9), 0.1)
                try await journal.finish(item, under: begun.lease)
            }
            check.expect(try await journal.batch(lease.job)?.cost == 1.9)
        }
    }

    static func keys(_ world: any JournalWorld, _ check: ConformanceCheck) async throws {
        try await withBatch(world, check) { journal, lease in
            let first = try await add(rows("a", "b", "a"), to: lease, journal, isRead: true)
            check.expect(first.added == 2 && first.duplicates == 1 && first.known == 0)
            check.expect(try await journal.batch(lease.job)?.count(.duplicate) == 1)
            let record = try check.require(try await journal.batch(lease.job))
            try await journal.reread(lease, as: record, of: job.record)
            check.expect(try await journal.batch(lease.job)?.count(.duplicate) == 0, "the new reading tells them again")
            let second = try await add(rows("a", "c", "c"), to: lease, journal)
            check.expect(second.added == 1 && second.duplicates == 1 && second.known == 1)
            let other = NewItem(key: "a", line: nil, inputs: ["video": "/elsewhere"])
            let third = try await add([other], to: lease, journal, KnownItemRule(replacesChanged: true))
            check.expect(third.duplicates == 1 && third.changed.isEmpty, "a key of before comes twice in this reading")
            check.expect(try await journal.item("a", of: lease.job)?.number == 1)
            try await journal.reread(lease, as: record, of: job.record)
            let fourth = try await add(rows("b", "a", "c", "c"), to: lease, journal, isRead: true)
            check.expect(fourth.known == 3 && fourth.duplicates == 1, "a reading that adds nothing is one of its own")
        }
    }

    /// Three thousand letters ended a whole batch where an index took fewer: those that repeat themselves had not.
    static func longestNames(_ world: any JournalWorld, _ check: ConformanceCheck) async throws {
        let letters = Array("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
        func text(_ count: Int) -> String { String((0..<count).map { _ in letters[Int.random(in: letters.indices)] }) }
        try await withBatch(world, check) { journal, lease in
            var long = NewItem(key: text(NewItem.longestName), line: 1, inputs: ["video": "/videos/a"])
            long.targets = ["/" + text(NewItem.longestName - 1)]
            check.expect(try await add([long] + rows("b"), to: lease, journal, isRead: true).added == 2)
            let begun = try await journal.beginItems(2, of: lease)
            check.expect(begun.map(\.item.key) == [long.key, "b"])
            var item = try check.require(begun.first).item
            (item.state, item.ended) = (.succeeded, .at(9))
            try await journal.finish(item, under: begun[0].lease)
            check.expect(try await journal.item(long.key, of: lease.job)?.state == .succeeded)
        }
    }

    static func changes(_ world: any JournalWorld, _ check: ConformanceCheck) async throws {
        try await withBatch(world, check) { journal, lease in
            _ = try await add(rows("a"), to: lease, journal, isRead: true)
            let begun = try check.require(try await journal.beginItems(1, of: lease).first)
            let other = [NewItem(key: "a", line: nil, inputs: ["video": "/elsewhere"])]
            let early = try check.require(try await journal.batch(lease.job))
            try await journal.reread(lease, as: early, of: job.record)
            check.expect(
                try await add(other, to: lease, journal, KnownItemRule(replacesChanged: true)).underWay == other,
                "it runs")
            check.expect(try await journal.item("a", of: lease.job)?.number == 1)
            var item = begun.item
            (item.state, item.ended, item.cost) = (.succeeded, .at(9), 2)
            try await journal.finish(item, under: begun.lease)
            let record = try check.require(try await journal.batch(lease.job))
            try await journal.reread(lease, as: record, of: job.record)
            check.expect(try await add(other, to: lease, journal).changed == ["a"])
            check.expect(try await journal.item("a", of: lease.job)?.state == .succeeded)
            try await journal.reread(lease, as: record, of: job.record)
            _ = try await add(other, to: lease, journal, KnownItemRule(replacesChanged: true))
            let again = try check.require(try await journal.item("a", of: lease.job))
            check.expect(again.state == .pending && again.number == 2 && again.inputs == ["video": "/elsewhere"])
            check.expect(again.attempt == 2, "its ends are numbered on")
            check.expect(
                try await add(other, to: lease, journal, KnownItemRule(replacesChanged: true)).duplicates == 1,
                "not over itself")
            let counts = try await journal.batch(lease.job)?.counts.filter { $0.value > 0 }
            check.expect(counts == [.pending: 1, .duplicate: 1])
            try await journal.reread(lease, as: record, of: job.record)
            let batch = try await journal.batch(lease.job)
            check.expect(batch?.cost == 2 && batch?.otherEnds == 1, "what it has cost is known as one item's")
        }
    }

    static func changedTargets(_ world: any JournalWorld, _ check: ConformanceCheck) async throws {
        func row(_ key: String, _ target: String, _ video: String = "one") -> NewItem {
            var item = NewItem(key: key, line: nil, inputs: ["video": .string(video)])
            item.targets = [target]
            return item
        }
        try await withBatch(world, check) { journal, lease in
            _ = try await add([row("a", "/x"), row("b", "/y"), row("c", "/z")], to: lease, journal, isRead: true)
            let record = try check.require(try await journal.batch(lease.job))
            func read(_ rows: NewItem...) async throws -> [String] {
                try await journal.reread(lease, as: record, of: job.record)
                return try await add(rows, to: lease, journal, isRead: true, KnownItemRule(replacesChanged: true)).bad
                    .map(\.key)
            }
            check.expect(try await read(row("a", "/y", "other"), row("b", "/y"), row("c", "/z")) == ["a"])
            let counts = try await journal.batch(lease.job)?.counts.filter { $0.value > 0 }
            check.expect(counts == [.pending: 2, .failed: 1])
            check.expect(try await read(row("b", "/x"), row("a", "/y"), row("c", "/z")) == [], "they changed files")
            check.expect(try await read(row("b", "/w"), row("a", "/w"), row("c", "/w")) == ["a", "c"])
            check.expect(try await journal.item("c", of: lease.job)?.number != 3, "not begun, it is a new row")
        }
    }

    /// Items whose answers gave the same name replaced each other's results.
    static func files(_ world: any JournalWorld, _ check: ConformanceCheck) async throws {
        try await withBatch(world, check) { journal, lease in
            var items = rows("a", "b", "c")
            items[0].targets = ["/out/a"]
            _ = try await add(items, to: lease, journal, isRead: true)
            let begun = try await journal.beginItems(3, of: lease)
            guard begun.count == 3 else { return check.expect(false, "three begin") }
            let (a, b, c) = (begun[0].lease, begun[1].lease, begun[2].lease)
            check.expect(try await journal.claimFile("/out/a", isFolder: false, under: a) == nil, "since it was read")
            check.expect(try await journal.claimFile("/out/a", isFolder: false, under: b) == "a")
            for _ in 1...2 { check.expect(try await journal.claimFile("/out/x", isFolder: false, under: b) == nil) }
            check.expect(try await journal.claimFile("/out/x", isFolder: false, under: c) == "b")
            check.expect(try await journal.claimFile("/out", isFolder: true, under: c) == "a", "a file is in it")
            check.expect(try await journal.claimFile("/ou", isFolder: true, under: c) == nil)
            var item = begun[1].item
            (item.state, item.ended) = (.succeeded, .at(9))
            try await journal.finish(item, under: b)
            check.expect(try await journal.claimFile("/out/x", isFolder: false, under: c) == "b", "it has ended")
            await check.expect(throws: JournalFailure.stale) {
                _ = try await journal.claimFile("/out/z", isFolder: false, under: b)
            }
            let record = try check.require(try await journal.batch(lease.job))
            try await journal.reread(lease, as: record, of: job.record)
            let other = [NewItem(key: "b", line: nil, inputs: ["video": "/elsewhere"])]
            _ = try await add(other, to: lease, journal, KnownItemRule(replacesChanged: true))
            let again = try check.require(try await journal.beginItems(1, of: lease).first)
            check.expect(try await journal.claimFile("/out/x", isFolder: false, under: again.lease) == nil)
            check.expect(try await journal.claimFile("/out/x", isFolder: false, under: c) == "b")
            let alone = JobSnapshot(record: JobSnapshot.example(50, key: "alone").record, steps: [:], mode: .attached)
            let own = try await journal.create(alone, events: [], owner: owner)
            check.expect(try await journal.claimFile("/out/x", isFolder: false, under: own) == nil, "no item's job")
        }
    }

    static func badRows(_ world: any JournalWorld, _ check: ConformanceCheck) async throws {
        try await withBatch(world, check) { journal, lease in
            let bad = NewItem(key: "line 2", line: 2, inputs: [:], failure: StepFailure("line 2: no number"))
            check.expect(try await add(rows("a") + [bad], to: lease, journal, isRead: true).bad == [bad])
            check.expect(try await journal.retryItems(nil, in: [.failed], of: lease) == 0)
            check.expect(try await journal.failures(of: lease.job, limit: 5).map(\.example) == ["line 2"])
            let record = try check.require(try await journal.batch(lease.job))
            check.expect(record.count(.failed) == 1)
            try await journal.reread(lease, as: record, of: job.record)
            check.expect(try await journal.batch(lease.job)?.counts.filter { $0.value > 0 } == [.pending: 1])
        }
    }

    static func aside(_ world: any JournalWorld, _ check: ConformanceCheck) async throws {
        try await withBatch(world, check) { journal, lease in
            _ = try await add(rows("a", "b", "c"), to: lease, journal, isRead: true)
            check.expect(try await journal.cancelItem(3, at: .at(4), of: lease.job))
            for begun in try await journal.beginItems(2, of: lease) {
                var item = begun.item
                (item.state, item.ended) = (.failed, .at(5))
                try await journal.finish(item, under: begun.lease)
            }
            check.expect(try await journal.batch(lease.job)?.outcome == .failed)
            var record = try check.require(try await journal.batch(lease.job))
            record.place = nil
            try await journal.reread(lease, as: record, of: job.record)
            _ = try await add([], to: lease, journal, isRead: true)
            check.expect(try await journal.batch(lease.job)?.aside == [.failed: 2, .cancelled: 1])
            check.expect(try await journal.batch(lease.job)?.outcome == .succeeded)
            _ = try await add(rows("a"), to: lease, journal, isRead: true)
            check.expect(try await journal.batch(lease.job)?.outcome == .failed, "a row names it")
            check.expect(try await add(rows("a"), to: lease, journal, isRead: true).duplicates == 1)
            try await journal.reread(lease, as: record, of: job.record)
            check.expect(try await journal.retryItems(["b"], in: [.failed], of: lease) == 1)
            check.expect(try await add(rows("b"), to: lease, journal, isRead: true).known == 1)
            check.expect(try await journal.batch(lease.job)?.aside == [.failed: 1, .cancelled: 1], "it begins again")
        }
    }

    static func stale(_ world: any JournalWorld, _ check: ConformanceCheck) async throws {
        try await withBatch(world, check) { journal, lease in
            try await journal.release(lease)
            let next = try await journal.acquire(lease.job, for: owner)
            await check.expect(throws: JournalFailure.stale) { _ = try await add(rows("a"), to: lease, journal) }
            _ = try await add(rows("a"), to: next, journal)
            let item = try check.require(try await journal.item("a", of: next.job))
            check.expect(try await journal.beginItems(1, of: next).count == 1)
            await check.expect(throws: JournalFailure.keyTaken(JobSnapshot.example(1_001).record.id)) {
                _ = try await journal.begin(item, of: lease)
            }
            await check.expect(throws: JournalFailure.stale) {
                try await journal.fail(1, because: StepFailure("no"), at: .at(1), of: lease)
            }
            var record = JobSnapshot.example(9, key: "other").record
            record.item = BatchItem(batch: next.job, key: "a")
            let twice = JobSnapshot(record: record, steps: [:], mode: .attached)
            // The item is begun already.
            await check.expect(throws: JournalFailure.stale) {
                _ = try await journal.create(twice, events: [], owner: owner)
            }
            check.expect(try await journal.jobs(JobQuery(key: "other")).isEmpty)
        }
    }

    static func groups(_ world: any JournalWorld, _ check: ConformanceCheck) async throws {
        try await withBatch(world, check) { journal, lease in
            _ = try await add(rows("a", "clip-b", "clip-c", "d"), to: lease, journal, isRead: true)
            let all = try await journal.beginItems(4, of: lease)
            for (begun, title) in zip(all, ["x", "no face in clip-b", "no face in clip-c"]) {
                var item = begun.item
                (item.state, item.ended) = (.failed, .at(9))
                item.failure = ItemFailure(stage: "model", failure: StepFailure(title))
                try await journal.finish(item, under: begun.lease)
            }
            let groups = try await journal.failures(of: lease.job, limit: 5)
            check.expect(groups.map(\.count) == [2, 1] && groups.map(\.example) == ["clip-b", "a"])
            check.expect(
                groups.map(\.code) == ["no face in …", "x"], "an item's own name does not tell its failure from others")
            check.expect(groups.first?.message == "no face in clip-b", "the example's sentence is as it came")
            check.expect(try await journal.batch(lease.job)?.streak.count == 2)
            try await journal.stop(.sameFailure, lease)
            if let last = all.last {
                var item = last.item
                (item.state, item.ended) = (.succeeded, .at(10))
                try await journal.finish(item, under: last.lease)
            }
            let stopped = try await journal.batch(lease.job)
            check.expect(stopped?.isStopped == true && stopped?.streak.count == 2, "what stopped it stays")
            try await journal.stop(nil, lease)
            let goesOn = try await journal.batch(lease.job)
            check.expect(goesOn?.isStopped == false && goesOn?.streak.count == 0)
        }
    }

    static func reasons(_ world: any JournalWorld, _ check: ConformanceCheck) async throws {
        try await withBatch(world, check) { journal, lease in
            _ = try await add(rows("a", "b", "c", "d"), to: lease, journal, isRead: true)
            for (begun, (title, status)) in zip(
                try await journal.beginItems(4, of: lease), [("x", 422), ("y", 422), ("dark", 200), ("short", 200)])
            {
                var item = begun.item
                (item.state, item.ended) = (.failed, .at(9))
                item.failure = ItemFailure(stage: "model", failure: StepFailure(title, status: status))
                try await journal.finish(item, under: begun.lease)
            }
            let groups = try await journal.failures(of: lease.job, limit: 5)
            check.expect(groups.map(\.code) == ["422", "dark", "short"], "what a good answer said is no status")
            check.expect(try await journal.batch(lease.job)?.streak.count == 1)
        }
    }

    static func list(_ world: any JournalWorld, _ check: ConformanceCheck) async throws {
        try await withBatch(world, check) { journal, lease in
            _ = try await add(rows("a"), to: lease, journal, isRead: true)
            var record = JobSnapshot.example(2, key: "june.1").record
            record.item = BatchItem(batch: lease.job, key: "a")
            let one = JobSnapshot(record: record, steps: [:], mode: .attached)
            let own = try await journal.create(one, events: [], owner: owner)
            check.expect(try await journal.jobs(JobQuery()).map(\.snapshot.record.key) == ["june"])
            check.expect(try await journal.jobs(JobQuery(key: "june.1")).first?.snapshot.record.item?.key == "a")
            try await journal.commit([.ended(.at(3))], under: own)
            try await journal.commit([.ended(.at(4))], under: lease)
            let removed = try await journal.remove(lease.job)
            check.expect(Set(removed) == [lease.job, own.job] && removed.count == 2, "it says what it removed")
            check.expect(try await journal.jobs(JobQuery(key: "june.1")).isEmpty)
        }
    }
}
