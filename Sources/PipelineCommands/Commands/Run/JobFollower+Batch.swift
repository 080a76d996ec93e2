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

        /// Shows what is new of an item, at work or not any more.
        func read(_ job: JobID, of item: ItemRecord) async throws {
            if working[job] == nil {
                working[job] = item.key
                view.take(.began(item))
            }
            for event in try await journal.events(of: job, after: shown[job] ?? 0) {
                shown[job] = event.sequence ?? shown[job]
                view.show(event)
            }
            // Its last events came with its end, which is looked at after them.
            guard let item = try await journal.item(item.key, of: id), !item.isAtWork || item.job != job else { return }
            working[job] = nil
            if item.job == job, let batch = latest.snapshot.batch { view.take(.finished(item, batch)) }
        }
        /// The item whose job another process has named; nil for a job of another batch or of none.
        func item(of job: JobID) async throws -> ItemRecord? {
            if let key = working[job] { return try await journal.item(key, of: id) }
            let found = try await journal.jobs(JobQuery(prefix: job.text, isBrief: true)).first
            guard let origin = found?.snapshot.record.item, origin.batch == id else { return nil }
            return try await journal.item(origin.key, of: id)
        }

        try await awaitTaking(of: batch)
        try await repeatedly({ if shown[$0.job] != nil { view.show($0) } }, until: stops) { changed in
            if let changed {
                for job in changed { if let item = try await item(of: job) { try await read(job, of: item) } }
                return true
            }
            if let found = try await journal.jobs(JobQuery(prefix: id.text, isBrief: true)).first { latest = found }
            if let owner = latest.owner { watch(nil, of: owner) }
            if let record = latest.snapshot.batch { view.take(.read(AddedItems(), record)) }
            let running = try await journal.items(of: id, in: [.running, .waiting], after: 0, limit: 1000)
            try await attend(toOneOf: running, of: latest)
            for item in running { if let job = item.job { try await read(job, of: item) } }
            for (job, key) in working where !running.contains(where: { $0.job == job }) {
                if let item = try await journal.item(key, of: id) { try await read(job, of: item) }
            }
            // As often as the process that runs it says it.
            if looks % 10 == 0 { view.showProgress() }
            looks += 1
            return latest.owner != nil || goesOnByItself(latest)
        }
        return latest
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
