import JSONPath
package import PipelineCore
package import PipelinePostgres
import PipelineSQL
import Synchronization

/// The owners of jobs in a database that many machines share: a worker lives while its row's lease has not run out by
/// the database's clock. Its own clock only tells a worker when it must believe no longer that it does.
package final class PostgresOwners: JournalOwners {
    package typealias Connection = PostgresConnection

    private struct State {
        /// The jobs of each owner of this process, by their epochs.
        var jobs: [OwnerID: [JobID: Int]] = [:]
        var cleared: Set<OwnerID> = []
        /// The number of a job's row never changes.
        var numbers: [JobID: Int64] = [:]
        /// Owners whose leases are renewed though they have no job.
        var workers: Set<OwnerID> = []
        /// The time when leases were written last, by the local clock, counted from before they were sent.
        var renewed: Int64?
        /// The time of the first renewal, and of the first after half a lease or more without one, by the same clock.
        var began: Int64?
        var interrupted: Int64?
    }

    /// The owner of the process's group commits, whose row has their tokens.
    let owner: OwnerID
    /// The machine, as jobs know it that need its files.
    let host: String
    let version: String
    private let clock: any LeaseClock
    let time: DatabaseTime
    /// The time for which a lease lasts without being renewed, in milliseconds.
    let length: Int64
    private let state = Mutex(State())

    init(
        owner: OwnerID, host: String, version: String, clock: any LeaseClock, time: DatabaseTime, length: Int64
    ) {
        self.owner = owner
        self.host = host
        self.version = version
        self.clock = clock
        self.time = time
        self.length = length
    }

    // MARK: Rows

    /// The view `owners` says by the database's clock who lives.
    package func isLiving(_ owner: OwnerID, boot: String, until: Int64) -> Bool { boot == "alive" }

    package func renew(_ owner: OwnerID, on connection: PostgresConnection) throws(JournalFailure) {
        try connection.run(
            """
            INSERT INTO workers (id, host, version, since, renewed, lease_until)
            VALUES (:owner, :host, :version, clock_timestamp(), clock_timestamp(),
                clock_timestamp() + :length * INTERVAL '1 millisecond')
            ON CONFLICT (id) DO UPDATE SET renewed = excluded.renewed, lease_until = excluded.lease_until
            """, ["owner": owner.text, "host": host, "version": version, "length": length], expecting: nil
        ) { .stale }
    }

    /// A lock on the dead worker's row: one that was only stopped can't renew its lease while its job is taken.
    package func isGone(_ owner: OwnerID, on connection: PostgresConnection) throws(JournalFailure) -> Bool {
        var isLiving = false
        try connection.readRows(
            of: """
                SELECT CASE WHEN lease_until > clock_timestamp() THEN 1 ELSE 0 END AS living FROM workers
                WHERE id = :owner FOR SHARE
                """, ["owner": owner.text]
        ) { row in
            isLiving = row.flag("living")
            return false
        }
        return !isLiving
    }

    package func number(under lease: Lease, on connection: PostgresConnection) throws(JournalFailure) -> Int64 {
        if let number = state.withLock({ $0.numbers[lease.job] }) {
            try connection.run(
                """
                SELECT number FROM jobs WHERE number = :job AND owner = :owner AND epoch = :epoch FOR NO KEY UPDATE
                """, ["job": number, "owner": lease.owner.text, "epoch": lease.epoch], expecting: 1
            ) { .stale }
            return number
        }
        var found: (number: Int64, owner: String?, epoch: Int)?
        try connection.readRows(
            of: "SELECT number, owner, epoch FROM jobs WHERE id = :job FOR NO KEY UPDATE", ["job": lease.job.text]
        ) { row in
            found = (row.integer("number"), row.optionalText("owner"), row.int("epoch"))
            return false
        }
        guard let found else { throw .noSuchJob(lease.job) }
        guard found.epoch == lease.epoch, found.owner == lease.owner.text else { throw .stale }
        state.withLock { $0.numbers[lease.job] = found.number }
        return found.number
    }

    /// A job whose inputs or document name files belongs to the machine that has them.
    package func complete(_ job: JobRecord, _ number: Int64, on connection: PostgresConnection) throws(JournalFailure) {
        // Its next change need not ask for it.
        state.withLock { $0.numbers[job.id] = number }
        guard job.needsItsMachine else { return }
        try connection.run(
            "UPDATE jobs SET host = :host WHERE number = :job", ["host": host, "job": number], expecting: 1
        ) { .stale }
    }

    /// Lets go what an earlier process left under the owner's name, and forgets workers that are long dead.
    func clear(_ owner: OwnerID, on connection: PostgresConnection) throws(JournalFailure) {
        guard try isGone(owner, on: connection) else {
            throw .other("another process owns jobs under the name \(owner.text)")
        }
        try connection.run("UPDATE jobs SET owner = NULL WHERE owner = :owner", ["owner": owner.text], expecting: nil) {
            .stale
        }
        try connection.run(
            """
            DELETE FROM workers WHERE lease_until < clock_timestamp() - INTERVAL '1 hour' AND id <> :owner
                AND NOT EXISTS (SELECT 1 FROM jobs WHERE owner = workers.id)
            """, ["owner": owner.text], expecting: nil
        ) { .stale }
        try MeasuredRows(rows: JobRows(connection: connection, owners: self)).fold()
    }

    // MARK: What this process has

    func isCleared(_ owner: OwnerID) -> Bool { state.withLock { $0.cleared.contains(owner) } }
    func markCleared(_ owner: OwnerID) { state.withLock { _ = $0.cleared.insert(owner) } }
    func markWorker(_ owner: OwnerID) { state.withLock { _ = $0.workers.insert(owner) } }
    var isWorker: Bool { state.withLock { !$0.workers.isEmpty } }

    func add(_ lease: Lease) { state.withLock { $0.jobs[lease.owner, default: [:]][lease.job] = lease.epoch } }

    func remove(_ lease: Lease) {
        state.withLock { state in
            if state.jobs[lease.owner]?[lease.job] == lease.epoch { state.jobs[lease.owner]?[lease.job] = nil }
            state.numbers[lease.job] = nil
        }
    }

    /// Forgets the jobs that others took while this process was stopped.
    func keepOnly(_ jobs: Set<JobID>, of owner: OwnerID) {
        state.withLock { state in state.jobs[owner] = state.jobs[owner]?.filter { jobs.contains($0.key) } }
    }

    func holds(_ lease: Lease) -> Bool {
        isFresh && state.withLock { $0.jobs[lease.owner]?[lease.job] == lease.epoch }
    }

    /// Every lease that this process has.
    var leases: [Lease] {
        state.withLock { state in
            state.jobs.flatMap { owner, jobs in jobs.map { Lease(job: $0.key, owner: owner, epoch: $0.value) } }
        }
    }

    var haveJobs: Bool { state.withLock { $0.jobs.values.contains { !$0.isEmpty } } }
    var now: Int64 { clock.now }

    private static func living(_ state: State) -> [OwnerID] {
        Array(state.workers.union(state.jobs.filter { !$0.value.isEmpty }.keys))
    }

    /// The owners whose leases are to be renewed now: a third of the length after the last time.
    var dueForRenewal: [OwnerID] {
        let now = clock.now
        return state.withLock { state in
            if let renewed = state.renewed, now < renewed + length / 3 { return [] }
            return Self.living(state)
        }
    }

    /// After how many milliseconds to look for renewals again: when the next is due, and not at once for one that was
    /// refused; nil while nobody is to be renewed.
    var renewalInterval: Int? {
        let now = clock.now
        return state.withLock { state in
            if Self.living(state).isEmpty { return nil }
            let rest = state.renewed.map { $0 + length / 3 - now } ?? length / 3
            return Int(max(1, length / 30, min(rest, length / 3)))
        }
    }

    /// Returns whether leases were renewed so lately that nobody else can have taken a job: a tenth less than they last.
    var isFresh: Bool {
        let now = clock.now
        return state.withLock { state in state.renewed.map { now < $0 + length - length / 10 } ?? false }
    }

    /// Returns whether this process may let go what dead workers had. While the database was away nobody could renew: whoever
    /// comes back waits for one lease, until the others that live have come back too. One that has just begun knows of no
    /// outage; it waits for the time in which the others try again to come back.
    var mayTakeOver: Bool {
        let now = clock.now
        return state.withLock { state in
            guard let began = state.began, let renewed = state.renewed, now >= began + Self.settling else {
                return false
            }
            if let interrupted = state.interrupted, now < interrupted + length { return false }
            return now < renewed + length / 2
        }
    }

    /// Workers whose database was away try twice a second, in milliseconds.
    private static let settling: Int64 = 3000

    func markRenewed(at time: Int64) {
        state.withLock { state in
            if let renewed = state.renewed, time >= renewed + length / 2 { state.interrupted = time }
            state.began = state.began ?? time
            state.renewed = time
        }
    }
}

extension JobRecord {
    /// Returns whether the job reads a file of the machine on which it was started.
    var needsItsMachine: Bool {
        if folders.namesFiles { return true }
        guard let document = try? JSON.parse(Array(source.utf8)), let declared = document["inputs"]?.object else {
            return false
        }
        return declared.contains { input in
            let type = input.value["type"]?.string ?? input.value.string
            guard type == "file" || type == "files" else { return false }
            // What a batch lacks its rows give.
            return inputs[input.name].map { $0 != .null } ?? (input.value["default"] == nil)
        }
    }
}
