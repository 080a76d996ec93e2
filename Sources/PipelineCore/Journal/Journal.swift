/// The durable memory of all jobs: what was committed is there after a crash, whole, and nothing else is.
///
/// Every call that returns has put its changes on disk. One that refuses, as its page says, has kept nothing; after any other
/// failure its caller reads the job again. All calls may come from any thread, many at a time, and from many processes where
/// the store is shared. Only a job's owner writes to it, under a ``Lease``; what others want of it they leave with `post`. A
/// journal does not look into what it keeps: ``JobSnapshot`` has the law of change
/// (``JobSnapshot/commit(_:)``) and a form for the disk (``JobSnapshot/json``). The suite `JournalConformance` holds every
/// implementation to this page.
public protocol Journal: Sendable {
    /// Keeps a new job with its first events, in one transaction, with a lease of epoch 1 for its owner.
    ///
    /// - Throws: ``JournalFailure/keyTaken(_:)`` when another job has the same key.
    func create(_ job: JobSnapshot, events: [JobEvent], owner: OwnerID) async throws(JournalFailure) -> Lease
    /// Returns the job as it was last committed; nil when there is none of that id.
    func snapshot(of job: JobID) async throws(JournalFailure) -> JobSnapshot?
    /// Returns what others asked of the job, as it stands; nil when there is no job of that id. A journal that reads the
    /// whole job for it does without this one.
    func inbox(of job: JobID) async throws(JournalFailure) -> JobInbox?
    /// Returns the jobs that the query selects, newest first, which is the order of their ids backwards, with who owns
    /// each.
    func jobs(_ query: JobQuery) async throws(JournalFailure) -> [OwnedJob]
    /// Takes the job for an owner when its last owner has let it go or is gone; the lease's epoch is one more than that of
    /// the last.
    ///
    /// - Throws: ``JournalFailure/owned(by:)`` while an owner lives, also when it is the one that asks;
    ///   ``JournalFailure/noSuchJob(_:)``.
    func acquire(_ job: JobID, for owner: OwnerID) async throws(JournalFailure) -> Lease
    /// Lets the job go, as `.released` and `.ended` do in a commit; a stale lease changes nothing. When it throws, because the
    /// journal takes no writes for now, the next write of the process that succeeds lets the job go: nobody asks again.
    func release(_ lease: Lease) async throws(JournalFailure)
    /// Returns whether the owner may believe that it still has the job, without a look at the disk: false once it may
    /// have been stopped for so long that another could have taken the job, until a write of its own shows that none did.
    func holds(_ lease: Lease) -> Bool
    /// Keeps all the changes in one transaction, or none. With a change that says so (``JournalChange/endsOwnership``) the
    /// job has no owner from then on.
    ///
    /// - Throws: ``JournalFailure/stale`` when the lease is not the job's last or was let go; what
    ///   ``JobSnapshot/commit(_:)`` throws; ``JournalFailure/noSuchJob(_:)``.
    func commit(_ changes: [JournalChange], under lease: Lease) async throws(JournalFailure)
    /// Returns the job's journaled events after a sequence number, in order; none for a job that is not there.
    func events(of job: JobID, after sequence: Int) async throws(JournalFailure) -> [JobEvent]
    /// Leaves a request for the job's owner and wakes it; true when an owner that is alive will see it.
    ///
    /// - Throws: ``JournalFailure/noSuchJob(_:)``.
    func post(_ request: JobRequest, to job: JobID) async throws(JournalFailure) -> Bool
    /// Keeps a callback for a step and wakes the job's owner. One whose id the step has had before, however long ago,
    /// changes nothing.
    ///
    /// - Throws: ``JournalFailure/noSuchJob(_:)``.
    func post(_ callback: Callback, to step: StepKey, of job: JobID) async throws(JournalFailure) -> CallbackReceipt
    /// Returns the jobs of this owner that were asked for something, as it comes; first those that were asked before. Each
    /// call gives a stream of its own, which ends when the journal is closed.
    func requests(for owner: OwnerID) -> AsyncStream<JobID>
    /// Forgets a job that has ended, and with a batch the jobs of its items; returns all that it forgot, so that its
    /// caller removes what is kept of them elsewhere.
    ///
    /// - Throws: ``JournalFailure/owned(by:)`` while somebody has it, ``JournalFailure/noSuchJob(_:)``, and any other for a
    ///   job that has not ended.
    func remove(_ job: JobID) async throws(JournalFailure) -> [JobID]
}

extension Journal {
    /// Returns the inbox of the whole job, as it is in its snapshot.
    public func inbox(of job: JobID) async throws(JournalFailure) -> JobInbox? {
        try await snapshot(of: job).map { JobInbox(request: $0.request, pushes: $0.pushes) }
    }
}

/// The right to write to one job. Each new owner gets a higher epoch, and only the highest one's writes are taken.
public struct Lease: Sendable, Hashable {
    /// The job that it is for.
    public let job: JobID
    /// The process that has it.
    public let owner: OwnerID
    /// The number of times that the job was given to an owner, from 1.
    public let epoch: Int

    /// A lease; only a journal makes one, and it counts the epochs.
    public init(job: JobID, owner: OwnerID, epoch: Int) {
        self.job = job
        self.owner = owner
        self.epoch = epoch
    }
}

/// A job and whether a living process owns it.
public struct OwnedJob: Sendable {
    /// The job as it was last committed.
    public let snapshot: JobSnapshot
    /// The living owner; nil when nobody has the job.
    public let owner: OwnerID?

    /// A job of a list.
    public init(snapshot: JobSnapshot, owner: OwnerID?) {
        self.snapshot = snapshot
        self.owner = owner
    }

    /// The place where the job stands.
    package var phase: JobPhase { snapshot.phase(isOwned: owner != nil) }

    /// The reason why the job is suspended; nil of one that is not.
    package var suspension: SuspensionCause? { snapshot.suspension(isOwned: owner != nil) }
}

/// The question which jobs to list. What is nil selects all.
public struct JobQuery: Sendable, Hashable {
    /// The text that ids start with.
    public var prefix: String?
    /// The key of the job.
    public var key: String?
    /// The name of the jobs' pipeline.
    public var pipeline: String?
    /// True for only those jobs that have not ended.
    public var isUnfinished: Bool
    /// The most jobs to return: the newest ones.
    public var limit: Int?
    /// Only what a list shows: a journal may leave out checkpoints, captures and values of steps, submits, facts, inputs
    /// and environment, so that thousands of jobs cost little.
    package var isBrief: Bool

    /// A query for all jobs whose every given part is so, whole.
    public init(
        prefix: String? = nil, key: String? = nil, pipeline: String? = nil, isUnfinished: Bool = false,
        limit: Int? = nil
    ) {
        self.init(
            prefix: prefix, key: key, pipeline: pipeline, isUnfinished: isUnfinished, limit: limit, isBrief: false)
    }

    package init(
        prefix: String? = nil, key: String? = nil, pipeline: String? = nil, isUnfinished: Bool = false,
        limit: Int? = nil, isBrief: Bool
    ) {
        self.isBrief = isBrief
        self.prefix = prefix
        self.key = key
        self.pipeline = pipeline
        self.isUnfinished = isUnfinished
        self.limit = limit
    }

    /// Returns whether a job is one of those, whatever the ``limit``: for a journal without indices.
    public func selects(_ job: JobSnapshot) -> Bool {
        if let prefix, !job.id.text.hasPrefix(prefix) { return false }
        if let key, job.key != key { return false }
        if let pipeline, job.pipeline != pipeline { return false }
        return !isUnfinished || job.ended == nil
    }
}
