import PipelineCore
import PipelineTestKit
import Synchronization

/// The database as one machine works with it: what it asks takes time and is asked again until it is answered, a commit
/// whose answer was lost is reconciled by its token, and it believes in its lease no longer than its own clock allows.
final class MachineJournal: ForwardingJournal {
    private struct State {
        var leases: [JobID: Lease] = [:]
        /// When the lease was written last, counted from before it was sent.
        var renewed: Timestamp?
    }

    let base: any Journal
    private let database: ModelDatabase
    private let process: SimulatedProcess
    private let state = Mutex(State())

    init(_ database: ModelDatabase, of process: SimulatedProcess) {
        base = database.base
        self.database = database
        self.process = process
    }

    // MARK: Its lease

    private var isFresh: Bool {
        let length = ModelDatabase.leaseLength
        return state.withLock { state in
            state.renewed.map { process.simulation.now < $0 + (length - length / 10) } ?? false
        }
    }

    func holds(_ lease: Lease) -> Bool { isFresh && state.withLock { $0.leases[lease.job] == lease } }

    /// Renews the lease every ten seconds, for as long as the machine runs.
    func renew() async {
        while !process.isDead {
            let pause = process.clock.now + .seconds(10)
            guard (try? await process.clock.sleep(until: pause)) != nil else { return }
            let wasFresh = isFresh
            try? await write { () throws(JournalFailure) in }
            if !wasFresh { forgetLostJobs() }
        }
    }

    /// What others took while this machine was stopped.
    private func forgetLostJobs() {
        let leases = state.withLock { $0.leases }
        for (job, lease) in leases where !base.holds(lease) { state.withLock { $0.leases[job] = nil } }
    }

    // MARK: Transactions

    private func write<Value: Sendable>(
        _ body: () async throws(JournalFailure) -> Value
    ) async throws(JournalFailure) -> Value {
        let token = database.newToken()
        var began = process.simulation.now
        while true {
            try await travel()
            if database.losesConnection {
                try await reconnect()
                began = process.simulation.now
                continue
            }
            let wasLapsed = !isFresh
            database.expireLeases()
            let value = try await body()
            database.sign(process.owner, token)
            let isLost = database.losesConnection
            try await travel()
            if isLost {
                try await reconnect()
                guard !database.isBlind, database.isCommitted(token) else { continue }
            }
            state.withLock { $0.renewed = began }
            if wasLapsed { forgetLostJobs() }
            return value
        }
    }

    private func read<Value: Sendable>(
        _ body: () async throws(JournalFailure) -> Value
    ) async throws(JournalFailure) -> Value {
        try await travel()
        while database.losesConnection { try await reconnect() }
        database.expireLeases()
        return try await body()
    }

    /// A message is on its way; the process may die meanwhile.
    private func travel() async throws(JournalFailure) {
        process.passPort()
        try alive()
        let random = process.simulation.randomness
        guard random.chance(0.5) else { return }
        try? await process.clock.sleep(until: process.clock.now + random.milliseconds(0...20))
        try alive()
    }

    private func reconnect() async throws(JournalFailure) {
        let pause = process.simulation.randomness.milliseconds(400...3_000)
        try? await process.clock.sleep(until: process.clock.now + pause)
        try alive()
    }

    private func alive() throws(JournalFailure) {
        if process.isDead { throw .other("the process is gone") }
    }

    // MARK: The journal

    func create(_ job: JobSnapshot, events: [JobEvent], owner: OwnerID) async throws(JournalFailure) -> Lease {
        let lease = try await write { () throws(JournalFailure) in
            try await base.create(job, events: events, owner: owner)
        }
        state.withLock { $0.leases[lease.job] = lease }
        return lease
    }

    func acquire(_ job: JobID, for owner: OwnerID) async throws(JournalFailure) -> Lease {
        let lease = try await write { () throws(JournalFailure) in try await base.acquire(job, for: owner) }
        state.withLock { $0.leases[lease.job] = lease }
        return lease
    }

    func release(_ lease: Lease) async throws(JournalFailure) {
        try await write { () throws(JournalFailure) in try await base.release(lease) }
        state.withLock { $0.leases[lease.job] = nil }
    }

    func commit(_ changes: [JournalChange], under lease: Lease) async throws(JournalFailure) {
        do throws(JournalFailure) {
            try await write { () throws(JournalFailure) in try await base.commit(changes, under: lease) }
        } catch {
            if error == .stale { state.withLock { $0.leases[lease.job] = nil } }
            throw error
        }
    }

    func snapshot(of job: JobID) async throws(JournalFailure) -> JobSnapshot? {
        try await read { () throws(JournalFailure) in try await base.snapshot(of: job) }
    }

    func jobs(_ query: JobQuery) async throws(JournalFailure) -> [OwnedJob] {
        try await read { () throws(JournalFailure) in try await base.jobs(query) }
    }

    func events(of job: JobID, after sequence: Int) async throws(JournalFailure) -> [JobEvent] {
        try await read { () throws(JournalFailure) in try await base.events(of: job, after: sequence) }
    }
}
