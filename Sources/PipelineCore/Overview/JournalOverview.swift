/// The part of a journal that people look over many jobs with: pages of jobs, counts, and what has changed since.
///
/// Nothing here is needed to run a job. A journal that implements none of it is still shown, by the defaults below, which
/// read all jobs.
package protocol JournalOverview: Sendable {
    /// The jobs that the query selects, newest first, as a list shows them.
    func page(_ query: JobPageQuery) async throws(JournalFailure) -> [OwnedJob]
    /// Returns how many jobs the query selects in each phase; its own phase, place and limit do not count.
    func counts(_ query: JobPageQuery) async throws(JournalFailure) -> [JobPhase: Int]
    /// The number of the newest change of any job. It grows with each commit that has an event and never falls.
    func lastChange() async throws(JournalFailure) -> Int64
    /// The jobs that changed after a change, each once, in the order of their last changes, with its number; the limit
    /// never parts jobs that share a number.
    func changes(after change: Int64, limit: Int) async throws(JournalFailure) -> [JobChange]
    /// All who have owned jobs and are still known.
    func owners() async throws(JournalFailure) -> [OwnerSummary]
    /// The last jobs of a pipeline that have ended, oldest first.
    func runs(of pipeline: String, limit: Int) async throws(JournalFailure) -> [JobRun]
    /// Returns how many steps of each stage have a remote job that has not ended.
    func computations() async throws(JournalFailure) -> [StageCount]
    /// Returns how many items of a batch have ended in each slot of time since a moment; slots without any are left
    /// out.
    func itemEnds(of batch: JobID, since: Timestamp, slot: Duration) async throws(JournalFailure) -> [ItemEnds]
    /// The items of a batch that took longest, the slowest first.
    func slowestItems(of batch: JobID, limit: Int) async throws(JournalFailure) -> [ItemRecord]
}

/// Which jobs a page shows.
package struct JobPageQuery: Sendable, Hashable {
    package var phase: JobPhase?
    package var pipeline: String?
    /// The jobs of the items of this batch.
    package var batch: JobID?
    /// A text that the key, the item, the pipeline's name, or the error of a failed job holds, or that the id begins with;
    /// upper and lower case of ASCII letters are alike.
    package var text: String?
    /// Only jobs that started then or later.
    package var since: Timestamp?
    /// Only jobs that are older than this one: where the page before ended.
    package var before: JobID?
    package var limit: Int

    package init(
        phase: JobPhase? = nil, pipeline: String? = nil, batch: JobID? = nil, text: String? = nil,
        since: Timestamp? = nil, before: JobID? = nil, limit: Int = 50
    ) {
        self.phase = phase
        self.pipeline = pipeline
        self.batch = batch
        self.text = text
        self.since = since
        self.before = before
        self.limit = limit
    }

    /// True if nothing is asked for but a place: then a batch is one row, and its items' jobs are left out.
    package var isUnfiltered: Bool {
        phase == nil && pipeline == nil && batch == nil && text == nil && since == nil
    }

    /// Returns whether the job belongs to what the query selects, its place and limit aside.
    func selects(_ job: OwnedJob) -> Bool {
        let record = job.snapshot.record
        if let phase, job.snapshot.phase(isOwned: job.owner != nil) != phase { return false }
        if let pipeline, record.pipeline != pipeline { return false }
        if let batch, record.item?.batch != batch { return false }
        if let since, record.started < since { return false }
        guard let text else { return true }
        let wanted = text.lowercased()
        let held = [record.key, record.pipeline, record.item?.key, job.snapshot.failure?.failure.title]
        return record.id.text.hasPrefix(wanted) || held.contains { $0?.lowercased().contains(wanted) == true }
    }
}

/// That a job changed.
package struct JobChange: Sendable, Hashable {
    package let number: Int64
    package let job: JobID

    package init(number: Int64, job: JobID) {
        self.number = number
        self.job = job
    }
}

/// A process that owns jobs, as people see it.
package struct OwnerSummary: Sendable, Hashable {
    package let owner: OwnerID
    package let isAlive: Bool
    package let jobs: Int

    package init(owner: OwnerID, isAlive: Bool, jobs: Int) {
        self.owner = owner
        self.isAlive = isAlive
        self.jobs = jobs
    }
}

/// A job that has ended, in short.
package struct JobRun: Sendable, Hashable {
    package let job: JobID
    package let started: Timestamp
    package let ended: Timestamp
    package let outcome: JobPhase

    package init(job: JobID, started: Timestamp, ended: Timestamp, outcome: JobPhase) {
        self.job = job
        self.started = started
        self.ended = ended
        self.outcome = outcome
    }

    package var seconds: Double { ended.seconds(since: started) }
}

/// A number that belongs to a stage of a pipeline.
package struct StageCount: Sendable, Hashable {
    package let pipeline: String
    package let stage: String
    package let count: Int

    package init(pipeline: String, stage: String, count: Int) {
        self.pipeline = pipeline
        self.stage = stage
        self.count = count
    }
}

/// The number of items that ended in one slot of time, from 0.
package struct ItemEnds: Sendable, Hashable {
    package let slot: Int
    package let state: ItemRecord.State
    package let count: Int

    package init(slot: Int, state: ItemRecord.State, count: Int) {
        self.slot = slot
        self.state = state
        self.count = count
    }
}

extension JournalOverview where Self: Journal & BatchJournal {
    package func page(_ query: JobPageQuery) async throws(JournalFailure) -> [OwnedJob] {
        let all = try await jobs(JobQuery(pipeline: query.pipeline, isBrief: true))
        let rest = all.drop { job in query.before.map { job.snapshot.record.id >= $0 } ?? false }
        return Array(rest.lazy.filter(query.selects).prefix(query.limit))
    }

    package func counts(_ query: JobPageQuery) async throws(JournalFailure) -> [JobPhase: Int] {
        var open = query
        open.phase = nil
        return try await jobs(JobQuery(pipeline: query.pipeline, isBrief: true)).filter(open.selects).reduce(into: [:])
        {
            $0[$1.snapshot.phase(isOwned: $1.owner != nil), default: 0] += 1
        }
    }

    /// As good as it gets without a number that is kept: the sum of all jobs' events.
    package func lastChange() async throws(JournalFailure) -> Int64 {
        try await jobs(JobQuery(limit: 200)).reduce(0) { $0 + Int64($1.snapshot.sequence) }
    }

    package func changes(after change: Int64, limit: Int) async throws(JournalFailure) -> [JobChange] {
        let last = try await lastChange()
        guard last > change else { return [] }
        return try await jobs(JobQuery(limit: limit, isBrief: true)).map {
            JobChange(number: last, job: $0.snapshot.record.id)
        }
    }

    package func owners() async throws(JournalFailure) -> [OwnerSummary] {
        let living = try await jobs(JobQuery(isUnfinished: true, isBrief: true)).compactMap(\.owner)
        return Dictionary(grouping: living) { $0 }.map {
            OwnerSummary(owner: $0.key, isAlive: true, jobs: $0.value.count)
        }
    }

    package func runs(of pipeline: String, limit: Int) async throws(JournalFailure) -> [JobRun] {
        try await jobs(JobQuery(pipeline: pipeline, isBrief: true)).lazy.compactMap { job in
            job.snapshot.ended.map { ended in
                JobRun(
                    job: job.snapshot.record.id, started: job.snapshot.record.started, ended: ended,
                    outcome: job.snapshot.outcome)
            }
        }.prefix(limit).reversed()
    }

    package func computations() async throws(JournalFailure) -> [StageCount] {
        var counts: [[String]: Int] = [:]
        for job in try await jobs(JobQuery(isUnfinished: true)) {
            for (key, submit) in job.snapshot.submits where submit.phase != .intent && submit.phase != .refused {
                guard job.snapshot.steps[key]?.state.isEnded == false else { continue }
                counts[[job.snapshot.record.pipeline, key.stage], default: 0] += 1
            }
        }
        return counts.map { StageCount(pipeline: $0.key[0], stage: $0.key[1], count: $0.value) }
    }

    package func itemEnds(
        of batch: JobID, since: Timestamp, slot: Duration
    ) async throws(JournalFailure) -> [ItemEnds] {
        var counts: [Int: [ItemRecord.State: Int]] = [:]
        for item in try await items(of: batch, in: [.succeeded, .failed, .cancelled], after: 0, limit: .max) {
            guard let ended = item.ended, ended >= since else { continue }
            counts[Int((ended - since).seconds / max(slot.seconds, 0.001)), default: [:]][item.state, default: 0] += 1
        }
        return counts.flatMap { slot, states in
            states.map { ItemEnds(slot: slot, state: $0.key, count: $0.value) }
        }.sorted { ($0.slot, $0.state.rawValue) < ($1.slot, $1.state.rawValue) }
    }

    package func slowestItems(of batch: JobID, limit: Int) async throws(JournalFailure) -> [ItemRecord] {
        let ended = try await items(of: batch, in: [.succeeded, .failed], after: 0, limit: .max)
        return Array(ended.sorted { $0.seconds ?? 0 > $1.seconds ?? 0 }.prefix(limit))
    }
}
