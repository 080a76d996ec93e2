import PipelineCore
import PipelineKit

/// How a batch is followed that another process runs.
extension JobFollower {
    /// Shows the batch, and the events of its items' jobs, from the first of those that are at work, until nobody owns it
    /// any more, nor will by itself, or `stops` ends; gives it as it is then.
    func follow(batch: OwnedJob, until stops: AsyncStream<Void>?, in view: BatchView) async throws -> OwnedJob {
        let id = batch.snapshot.record.id
        var latest = batch
        /// The number of events that were shown of each item's job.
        var shown: [JobID: Int] = [:]
        /// The keys of the items at work.
        var working: [JobID: String] = [:]
        var looks = 0
        /// The number of the last item that is known to have begun: they begin in the order of their numbers.
        var last: Int?

        /// Shows what is new of the job of the item with a key, at work or not any more.
        func read(_ job: JobID, of key: String) async throws {
            // Looked at before the events: those of its end come with it.
            guard let item = try await journal.item(key, of: id) else { return }
            var events = try await journal.events(of: job, after: shown[job] ?? 0)
            if shown[job] == nil, let begin = events.lastIndex(where: { [.jobStarted, .jobResumed].contains($0.kind) })
            {
                // What came of it before is over.
                events.removeSubrange(..<begin)
            }
            if working[job] == nil {
                // What has come to rest is told once.
                guard item.isAtWork || !events.isEmpty else { return }
                working[job] = key
                view.take(.began(item))
            }
            for event in events {
                shown[job] = event.sequence ?? shown[job]
                view.show(event)
            }
            guard !item.isAtWork || item.job != job else { return }
            working[job] = nil
            if item.job == job, let batch = latest.snapshot.batch { view.take(.finished(item, batch)) }
        }
        /// The key of the item whose job another process has named; nil for a job of another batch or of none.
        func key(of job: JobID) async throws -> String? {
            if let key = working[job] { return key }
            let found = try await journal.jobs(JobQuery(prefix: job.text, isBrief: true)).first
            guard let origin = found?.snapshot.record.item, origin.batch == id else { return nil }
            return origin.key
        }

        try await awaitTaking(of: batch)
        try await repeatedly({ if shown[$0.job] != nil { view.show($0) } }, until: stops) { changed in
            if let changed {
                for job in changed { if let key = try await key(of: job) { try await read(job, of: key) } }
                return true
            }
            if let found = try await journal.jobs(JobQuery(prefix: id.text, isBrief: true)).first { latest = found }
            if let owner = latest.owner { watch(nil, of: owner) }
            if let record = latest.snapshot.batch { view.take(.read(AddedItems(), record)) }
            let running = try await journal.items(of: id, in: [.running, .waiting], after: 0, limit: 1000)
            try await attend(toOneOf: running, of: latest)
            // Their owner names those that have changed; should that have been lost, they are read all the same.
            let readsAll = looks % 10 == 0
            for item in running {
                if let job = item.job, readsAll || working[job] == nil { try await read(job, of: item.key) }
            }
            let known = Set(running.compactMap(\.job))
            for (job, key) in working where !known.contains(job) { try await read(job, of: key) }
            // Those that began and ended between two looks.
            var number = last ?? running.map(\.number).max() ?? latest.snapshot.batch?.endedCount ?? 0
            while let end = try await begun(after: number, of: id, read) { number = end }
            last = number
            // As often as the process that runs it says it.
            if readsAll { view.showProgress() }
            looks += 1
            return latest.owner != nil || goesOnByItself(latest)
        }
        return latest
    }

    /// Reads the items of a batch that have begun, after a number; gives the number of the last of them, nil when there is none.
    private func begun(
        after number: Int, of batch: JobID, _ read: (JobID, String) async throws -> Void
    ) async throws -> Int? {
        let states = Set(ItemRecord.State.allCases).subtracting([.pending, .duplicate])
        let items = try await journal.items(of: batch, in: states, after: number, limit: 1000)
        for item in items { if let job = item.job { try await read(job, item.key) } }
        return items.last?.number
    }

    /// Lets what holds a batch's items back go while a person looks on: to attend to one is to attend to all of its
    /// pipeline.
    private func attend(toOneOf items: [ItemRecord], of batch: OwnedJob) async throws {
        guard interactivity == .attended, let owner = batch.owner, let job = items.first?.job else { return }
        _ = journal.attend(job, of: owner)
    }
}

extension ItemRecord {
    /// True while its job is driven, or will be.
    fileprivate var isAtWork: Bool { [.running, .waiting].contains(state) }
}
