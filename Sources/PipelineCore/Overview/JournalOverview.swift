/// The part of a journal that people look over many jobs with: pages of jobs, counts, and what has changed since.
///
/// Nothing here is needed to run a job.
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
    package let started: Timestamp
    package let ended: Timestamp
    package let outcome: JobPhase

    package init(started: Timestamp, ended: Timestamp, outcome: JobPhase) {
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
