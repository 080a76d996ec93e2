/// The durable memory of all jobs: what was committed is there after a crash, whole, and nothing else is.
///
/// Every call that returns has put its changes on disk. One suite of tests holds all implementations to this page.
package protocol Journal: Sendable {
    /// Keeps a new job, with a lease for its owner; the job is visible whole or not at all.
    /// Throws `.keyTaken` when another job has the same key.
    func create(_ job: JobSnapshot, events: [JobEvent], owner: OwnerID) async throws(JournalFailure) -> Lease
    /// The job as it was last committed; nil when there is none of that id.
    func snapshot(of job: JobID) async throws(JournalFailure) -> JobSnapshot?
    /// Returns what others asked of the job, as it stands; nil when there is no job of that id.
    func inbox(of job: JobID) async throws(JournalFailure) -> JobInbox?
    /// Jobs that the query selects, newest first, with who owns each.
    func jobs(_ query: JobQuery) async throws(JournalFailure) -> [OwnedJob]
    /// Takes the job for an owner: at once when its last owner has let it go or is gone, else `.owned`.
    func acquire(_ job: JobID, for owner: OwnerID) async throws(JournalFailure) -> Lease
    /// Lets the job go, as `.released` and `.ended` do in a commit; a stale lease changes nothing.
    func release(_ lease: Lease) async throws(JournalFailure)
    /// Returns whether the owner may believe that it still has the job, without a look at the disk: false once it may
    /// have been stopped for so long that another could have taken the job, until a write of its own shows that none did.
    func holds(_ lease: Lease) -> Bool
    /// Keeps all the changes, or none: `.stale` when the job has another owner by now, `.conflict` when a step's row
    /// is not the one that the change was made from.
    func commit(_ changes: [JournalChange], under lease: Lease) async throws(JournalFailure)
    /// The job's journaled events after a sequence number, in order.
    func events(of job: JobID, after sequence: Int) async throws(JournalFailure) -> [JobEvent]
    /// Leaves a request for the job's owner and wakes it; true when an owner that is alive will see it.
    func post(_ request: JobRequest, to job: JobID) async throws(JournalFailure) -> Bool
    /// Keeps a push for a step and wakes the job's owner; one whose id is kept already changes nothing.
    func post(_ push: Callback, to step: StepKey, of job: JobID) async throws(JournalFailure) -> CallbackReceipt
    /// The requests and pushes that reach this owner's jobs, as they come; ends when the journal is closed.
    func requests(for owner: OwnerID) -> AsyncStream<JobID>
    /// Forgets a job that has ended.
    func remove(_ job: JobID) async throws(JournalFailure)
}

extension Journal {
    package func inbox(of job: JobID) async throws(JournalFailure) -> JobInbox? {
        try await snapshot(of: job).map { JobInbox(request: $0.request, pushes: $0.pushes) }
    }
}

/// The right to write to one job. Each new owner gets a higher epoch, and only the highest one's writes are taken.
package struct Lease: Sendable, Hashable {
    package let job: JobID
    package let owner: OwnerID
    package let epoch: Int

    package init(job: JobID, owner: OwnerID, epoch: Int) {
        self.job = job
        self.owner = owner
        self.epoch = epoch
    }
}

/// A job and whether a living process owns it.
package struct OwnedJob: Sendable {
    package let snapshot: JobSnapshot
    /// The living owner; nil when nobody has the job.
    package let owner: OwnerID?

    package init(snapshot: JobSnapshot, owner: OwnerID?) {
        self.snapshot = snapshot
        self.owner = owner
    }
}

/// Which jobs to list.
package struct JobQuery: Sendable, Hashable {
    /// Ids that start with this text.
    package var prefix: String?
    /// Jobs of this key.
    package var key: String?
    package var pipeline: String?
    /// Only jobs that have not ended.
    package var isUnfinished: Bool
    package var limit: Int?
    /// Only what a list shows: a journal may leave out checkpoints, captures and values of steps, submits, facts, inputs
    /// and environment, so that thousands of jobs cost little.
    package var isBrief: Bool

    package init(
        prefix: String? = nil, key: String? = nil, pipeline: String? = nil, isUnfinished: Bool = false,
        limit: Int? = nil, isBrief: Bool = false
    ) {
        self.isBrief = isBrief
        self.prefix = prefix
        self.key = key
        self.pipeline = pipeline
        self.isUnfinished = isUnfinished
        self.limit = limit
    }
}
