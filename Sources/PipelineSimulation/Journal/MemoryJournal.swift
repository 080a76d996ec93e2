package import PipelineCore
import Synchronization

/// The journal in memory, for tests and simulations: deterministic, with failures where a test wants them.
///
/// It runs no thread and reads no clock: what happens to owners happens when a test says so. What was committed is a
/// value, ``image``, from which another journal can start as a process does after a crash.
package final class MemoryJournal: Journal {
    /// Called around each commit, outside of any lock, with the lease and what is committed. A failure thrown before
    /// keeps nothing; one thrown after comes when all is kept and the caller does not know.
    package typealias CommitHook = @Sendable (Lease, [JournalChange]) throws(JournalFailure) -> Void

    struct State {
        var image: Image
        /// Owners whose process runs.
        var present: Set<OwnerID> = []
        /// Owners that were stopped for longer than a lease.
        var expired: Set<OwnerID> = []
        var listeners: [OwnerID: [AsyncStream<JobID>.Continuation]] = [:]
        var commits = 0
    }

    let state: Mutex<State>
    private let beforeCommit: CommitHook
    private let afterCommit: CommitHook

    package init(
        image: Image = Image(), beforeCommit: @escaping CommitHook = { _, _ in },
        afterCommit: @escaping CommitHook = { _, _ in }
    ) {
        state = Mutex(State(image: image))
        self.beforeCommit = beforeCommit
        self.afterCommit = afterCommit
    }

    /// All that is committed at this moment.
    package var image: Image { state.withLock { $0.image } }

    /// The number of calls of `create` and `commit` that were kept.
    package var commits: Int { state.withLock { $0.commits } }

    /// The owner's process is gone, as after kill -9: its jobs are free at once and its requests end.
    package func lose(_ owner: OwnerID) {
        let listeners = state.withLock { state in
            state.present.remove(owner)
            return state.listeners.removeValue(forKey: owner) ?? []
        }
        for listener in listeners { listener.finish() }
    }

    /// The owner was stopped for longer than a lease: others may take its jobs until it commits again.
    package func expire(_ owner: OwnerID) { state.withLock { _ = $0.expired.insert(owner) } }

    /// The owner has renewed its lease: what others have not taken meanwhile is its own again.
    package func renew(_ owner: OwnerID) { state.withLock { _ = $0.expired.remove(owner) } }

    /// Ends all requests, as closing a journal does.
    package func close() {
        for owner in state.withLock({ Array($0.present) }) { lose(owner) }
    }
}

extension MemoryJournal {
    package func create(
        _ job: JobSnapshot, events: [JobEvent], owner: OwnerID
    ) async throws(JournalFailure) -> Lease {
        let lease = Lease(job: job.record.id, owner: owner, epoch: 1)
        let begun = job.steps.filter { $0.value.state != .pending }.sorted { $0.key < $1.key }
        let changes = begun.map { JournalChange.step($0.key, $0.value) } + events.map(JournalChange.event)
        try beforeCommit(lease, changes)
        try change { (state) throws(JournalFailure) in
            state.enter(owner)
            try state.image.insert(job, events, owner)
            state.commits += 1
        }
        try afterCommit(lease, changes)
        return lease
    }

    package func commit(_ changes: [JournalChange], under lease: Lease) async throws(JournalFailure) {
        try beforeCommit(lease, changes)
        try change { (state) throws(JournalFailure) in
            try state.image.commit(changes, under: lease)
            state.expired.remove(lease.owner)
            state.commits += 1
        }
        try afterCommit(lease, changes)
    }

    package func acquire(_ job: JobID, for owner: OwnerID) async throws(JournalFailure) -> Lease {
        try change { (state) throws(JournalFailure) in
            state.enter(owner)
            guard var row = state.image.rows[job] else { throw .noSuchJob(job) }
            if let other = state.livingOwner(of: row) { throw .owned(by: other) }
            row.owner = owner
            row.epoch += 1
            state.image.rows[job] = row
            return Lease(job: job, owner: owner, epoch: row.epoch)
        }
    }

    package func holds(_ lease: Lease) -> Bool {
        state.withLock { $0.image.isValid(lease) && !$0.expired.contains(lease.owner) }
    }

    package func release(_ lease: Lease) async throws(JournalFailure) {
        state.withLock { state in
            guard state.image.isValid(lease) else { return }
            state.image.rows[lease.job]?.owner = nil
        }
    }

    package func remove(_ job: JobID) async throws(JournalFailure) -> [JobID] {
        try change { (state) throws(JournalFailure) in
            guard let row = state.image.rows[job] else { throw .noSuchJob(job) }
            guard row.snapshot.ended != nil else {
                if let owner = state.livingOwner(of: row) { throw .owned(by: owner) }
                throw .other("\(job) has not ended")
            }
            state.image.forgetJob(row.snapshot.record)
            return state.image.remove(job)
        }
    }

    package func snapshot(of job: JobID) async throws(JournalFailure) -> JobSnapshot? {
        state.withLock { $0.image.rows[job]?.snapshot }
    }

    package func jobs(_ query: JobQuery) async throws(JournalFailure) -> [OwnedJob] {
        state.withLock { state in
            let selected = state.image.rows.values.filter { query.selects($0.snapshot) }
                .sorted { $0.snapshot.record.id > $1.snapshot.record.id }
            return selected.prefix(query.limit ?? .max).map { row in
                OwnedJob(snapshot: row.snapshot, owner: state.livingOwner(of: row))
            }
        }
    }

    package func events(of job: JobID, after sequence: Int) async throws(JournalFailure) -> [JobEvent] {
        state.withLock { Array($0.image.rows[job]?.events.dropFirst(max(0, sequence)) ?? []) }
    }

    package func post(_ request: JobRequest, to job: JobID) async throws(JournalFailure) -> Bool {
        let listeners = try change { (state) throws(JournalFailure) -> [AsyncStream<JobID>.Continuation]? in
            guard let row = state.image.rows[job] else { throw .noSuchJob(job) }
            state.image.rows[job]?.snapshot.post(request)
            return state.livingOwner(of: row).map { state.listeners[$0] ?? [] }
        }
        for listener in listeners ?? [] { listener.yield(job) }
        return listeners != nil
    }

    package func post(_ push: Callback, to step: StepKey, of job: JobID) async throws(JournalFailure) -> CallbackReceipt
    {
        let (isNew, listeners) = try change {
            (state) throws(JournalFailure) -> (Bool, [AsyncStream<JobID>.Continuation]?) in
            guard let row = state.image.rows[job] else { throw .noSuchJob(job) }
            let isNew = state.image.rows[job]?.pushIDs[step, default: []].insert(push.id).inserted == true
            if isNew { state.image.rows[job]?.snapshot.post(push, to: step) }
            return (isNew, state.livingOwner(of: row).map { state.listeners[$0] ?? [] })
        }
        for listener in listeners ?? [] { listener.yield(job) }
        return CallbackReceipt(isNew: isNew, isHeard: listeners != nil)
    }

    package func requests(for owner: OwnerID) -> AsyncStream<JobID> {
        AsyncStream { continuation in
            let waiting = state.withLock { state in
                state.enter(owner)
                state.listeners[owner, default: []].append(continuation)
                return state.image.requested(from: owner)
            }
            for job in waiting { continuation.yield(job) }
        }
    }

    func change<Value: Sendable>(
        _ body: (inout State) throws(JournalFailure) -> Value
    ) throws(JournalFailure) -> Value {
        let result = state.withLock { state in Result { () throws(JournalFailure) in try body(&state) } }
        return try result.get()
    }
}

extension MemoryJournal: DurationHistory {
    package func resumes(since time: Timestamp, of pipeline: String?) async throws(JournalFailure) -> [ResumeRecord] {
        state.withLock { state in
            state.image.resumes.filter { $0.time >= time && (pipeline == nil || $0.pipeline == pipeline) }
                .sorted { $0.time < $1.time }
        }
    }

    package func resumes(after number: Int, since time: Timestamp) async throws(JournalFailure) -> ResumeRows {
        state.withLock { state in
            let rows = state.image.resumes
            return ResumeRows(records: rows.dropFirst(number).filter { $0.time >= time }, last: rows.count)
        }
    }

    package func samples(of pipeline: String, limit: Int) async throws(JournalFailure) -> [StageSample] {
        let samples = state.withLock { $0.image.samples.filter { $0.pipeline == pipeline } }
        let last = Dictionary(grouping: samples.enumerated(), by: \.element.stage).values.flatMap { $0.suffix(limit) }
        return last.sorted { $0.offset < $1.offset }.map(\.element)
    }

    package func runningSamples(
        of pipeline: String, besides owner: OwnerID, at now: Timestamp, limit: Int
    ) async throws(JournalFailure) -> [StageSample] { [] }

    package func pipelines() async throws(JournalFailure) -> [String] {
        state.withLock { Set($0.image.samples.map(\.pipeline) + $0.image.resumes.map(\.pipeline)).sorted() }
    }
}

extension MemoryJournal.State {
    mutating func enter(_ owner: OwnerID) {
        // A process that starts under the name of one that is gone has none of its jobs.
        if present.insert(owner).inserted { image.releaseAll(of: owner) }
        expired.remove(owner)
    }

    func livingOwner(of row: MemoryJournal.Image.Row) -> OwnerID? {
        guard let owner = row.owner, present.contains(owner), !expired.contains(owner) else { return nil }
        return owner
    }
}
