public import PipelineKit
import Synchronization

/// A journal whose disk is a dictionary of bytes: a pattern for one over a store of your own, and one for tests.
///
/// A job is a row with its first state, and a line for each change since. All processes that share the journal share this object.
public final class ByteJournal: Journal {
    struct Row {
        var job: [UInt8]
        var changes: [[UInt8]] = []
        var events: [[UInt8]] = []
        var callbacks: Set<String> = []
        var owner: OwnerID?
        var epoch = 1
    }

    struct State {
        var rows: [JobID: Row] = [:]
        var living: Set<OwnerID> = []
        var stopped: Set<OwnerID> = []
        var listeners: [OwnerID: [AsyncStream<JobID>.Continuation]] = [:]
    }

    private let state = Mutex(State())

    /// An empty journal.
    public init() {}

    /// The process of that name is gone: its jobs are free, and it hears no more.
    public func lose(_ owner: OwnerID) {
        let listeners = state.withLock { state in
            state.living.remove(owner)
            return state.listeners.removeValue(forKey: owner) ?? []
        }
        for listener in listeners { listener.finish() }
    }

    /// The process of that name was stopped for long: its jobs are free until it writes again.
    public func stop(_ owner: OwnerID) { state.withLock { _ = $0.stopped.insert(owner) } }
}

extension ByteJournal {
    public func create(
        _ job: JobSnapshot, events: [JobEvent], owner: OwnerID
    ) async throws(JournalFailure) -> Lease {
        try transaction { (state) throws(JournalFailure) in
            state.enter(owner)
            for row in state.rows.values {
                let other = try row.read()
                if other.key == job.key { throw .keyTaken(other.id) }
            }
            guard state.rows[job.id] == nil else { throw .other("there is a job \(job.id)") }
            var row = Row(job: Array(job.json.text.utf8), owner: owner)
            try row.add(events.map(JournalChange.event))
            state.rows[job.id] = row
            return Lease(job: job.id, owner: owner, epoch: row.epoch)
        }
    }

    public func acquire(_ job: JobID, for owner: OwnerID) async throws(JournalFailure) -> Lease {
        try transaction { (state) throws(JournalFailure) in
            state.enter(owner)
            var row = try state.row(of: job)
            if let other = state.livingOwner(of: row) { throw .owned(by: other) }
            row.owner = owner
            row.epoch += 1
            state.rows[job] = row
            return Lease(job: job, owner: owner, epoch: row.epoch)
        }
    }

    public func commit(_ changes: [JournalChange], under lease: Lease) async throws(JournalFailure) {
        try transaction { (state) throws(JournalFailure) in
            var row = try state.row(of: lease.job)
            guard row.isHeld(by: lease) else { throw .stale }
            try row.add(changes)
            state.rows[lease.job] = row
            state.stopped.remove(lease.owner)
        }
    }

    public func holds(_ lease: Lease) -> Bool {
        state.withLock { $0.rows[lease.job]?.isHeld(by: lease) == true && !$0.stopped.contains(lease.owner) }
    }

    public func release(_ lease: Lease) async throws(JournalFailure) {
        state.withLock { if $0.rows[lease.job]?.isHeld(by: lease) == true { $0.rows[lease.job]?.owner = nil } }
    }

    public func remove(_ job: JobID) async throws(JournalFailure) -> [JobID] {
        try transaction { (state) throws(JournalFailure) in
            let row = try state.row(of: job)
            guard try row.read().ended != nil else {
                if let owner = state.livingOwner(of: row) { throw .owned(by: owner) }
                throw .other("\(job) has not ended")
            }
            state.rows[job] = nil
            return [job]
        }
    }
}

extension ByteJournal {
    public func snapshot(of job: JobID) async throws(JournalFailure) -> JobSnapshot? {
        try transaction { (state) throws(JournalFailure) in try state.rows[job]?.read() }
    }

    public func jobs(_ query: JobQuery) async throws(JournalFailure) -> [OwnedJob] {
        try transaction { (state) throws(JournalFailure) in
            var jobs: [OwnedJob] = []
            for (_, row) in state.rows.sorted(by: { $0.key > $1.key }) where jobs.count < query.limit ?? .max {
                let job = try row.read()
                if query.selects(job) { jobs.append(OwnedJob(snapshot: job, owner: state.livingOwner(of: row))) }
            }
            return jobs
        }
    }

    public func events(of job: JobID, after sequence: Int) async throws(JournalFailure) -> [JobEvent] {
        let lines = state.withLock { $0.rows[job]?.events ?? [] }
        return lines.dropFirst(max(0, sequence)).compactMap { (try? JSON.parse($0)).flatMap(JobEvent.init(json:)) }
    }

    public func post(_ request: JobRequest, to job: JobID) async throws(JournalFailure) -> Bool {
        try wake(job) { (row) throws(JournalFailure) in
            try row.change { $0.post(request) }
            return true
        }.isHeard
    }

    public func post(
        _ callback: Callback, to step: StepKey, of job: JobID
    ) async throws(JournalFailure) -> CallbackReceipt {
        try wake(job) { (row) throws(JournalFailure) in
            guard row.callbacks.insert("\(step) \(callback.id)").inserted else { return false }
            try row.change { $0.post(callback, to: step) }
            return true
        }
    }

    public func requests(for owner: OwnerID) -> AsyncStream<JobID> {
        AsyncStream { listener in
            let waiting = state.withLock { state in
                state.enter(owner)
                state.listeners[owner, default: []].append(listener)
                return state.rows.filter { $0.value.owner == owner && (try? $0.value.read().hasRequests) == true }.keys
            }
            for job in waiting.sorted() { listener.yield(job) }
        }
    }

    /// Changes a job from outside of its owner, and wakes that.
    private func wake(
        _ job: JobID, _ body: (inout Row) throws(JournalFailure) -> Bool
    ) throws(JournalFailure) -> CallbackReceipt {
        let (isNew, listeners) = try transaction { (state) throws(JournalFailure) in
            var row = try state.row(of: job)
            let isNew = try body(&row)
            state.rows[job] = row
            return (isNew, state.livingOwner(of: row).map { state.listeners[$0] ?? [] })
        }
        for listener in listeners ?? [] { listener.yield(job) }
        return CallbackReceipt(isNew: isNew, isHeard: listeners != nil)
    }

    private func transaction<Value: Sendable>(
        _ body: (inout State) throws(JournalFailure) -> Value
    ) throws(JournalFailure) -> Value {
        try state.withLock { state in Result { () throws(JournalFailure) in try body(&state) } }.get()
    }
}

extension ByteJournal.State {
    /// A process that begins under the name of one that is gone has none of its jobs.
    mutating func enter(_ owner: OwnerID) {
        stopped.remove(owner)
        guard living.insert(owner).inserted else { return }
        for (job, row) in rows where row.owner == owner { rows[job]?.owner = nil }
    }

    func livingOwner(of row: ByteJournal.Row) -> OwnerID? {
        row.owner.flatMap { living.contains($0) && !stopped.contains($0) ? $0 : nil }
    }

    func row(of job: JobID) throws(JournalFailure) -> ByteJournal.Row {
        guard let row = rows[job] else { throw .noSuchJob(job) }
        return row
    }
}

extension ByteJournal.Row {
    func isHeld(by lease: Lease) -> Bool { owner == lease.owner && epoch == lease.epoch }

    func read() throws(JournalFailure) -> JobSnapshot {
        guard var job = (try? JSON.parse(job)).flatMap(JobSnapshot.init(json:)) else { throw damage }
        for line in changes {
            guard let change = (try? JSON.parse(line)).flatMap(JournalChange.init(json:)) else { throw damage }
            try job.commit([change])
        }
        return job
    }

    private var damage: JournalFailure { .damaged(file: "memory", reason: "a row is no job") }

    /// Adds a line for each change, once the law has let all of them pass.
    mutating func add(_ new: [JournalChange]) throws(JournalFailure) {
        var job = try read()
        try job.commit(new)
        changes += new.compactMap(\.json).map { Array($0.text.utf8) }
        for case .event(let event) in new { events.append(Array(event.json.text.utf8)) }
        if new.contains(where: \.endsOwnership) { owner = nil }
    }

    /// Writes the whole job again, without the lines of its changes.
    mutating func change(_ body: (inout JobSnapshot) -> Void) throws(JournalFailure) {
        var job = try read()
        body(&job)
        (self.job, changes) = (Array(job.json.text.utf8), [])
    }
}
