import PipelineCore
import PipelinePostgres
import PipelineSQL
import Synchronization

/// The messages that this process gets from others and sends them over the database, and the jobs that it has claimed
/// and not begun.
final class PostgresHub: Sendable {
    private struct State {
        var requests: [Int: (owner: OwnerID, continuation: AsyncStream<JobID>.Continuation)] = [:]
        var news: [Int: AsyncStream<JournalSignal>.Continuation] = [:]
        var attentions: [Int: AsyncStream<OwnerSignal>.Continuation] = [:]
        var work: [Int: AsyncStream<Void>.Continuation] = [:]
        var count = 0
        /// Claimed jobs, with the local time of the claim.
        var claims: [JobID: (lease: Lease, time: Int64)] = [:]
        /// Jobs that this process does not want for now, by the local time until when.
        var declined: [JobID: Int64] = [:]
        /// Jobs that could not go on here, for want of a secret or of the network; wanted again when a person says so.
        var suspended: [JobID: Int64] = [:]
        var isClosed = false
    }

    private let owner: OwnerID
    private let reader: PostgresReader
    private let state = Mutex(State())
    private let clock = BootLeaseClock()
    private let watchers = Watchers()
    private let attendants = Watchers()
    /// Set once, right after the making: it calls back.
    private let listener = Mutex<PostgresListener?>(nil)

    init(_ address: PostgresAddress, interval: Duration, owner: OwnerID, reader: PostgresReader) {
        self.owner = owner
        self.reader = reader
        let made = PostgresListener(address, interval: interval) { [weak self] owner, text in
            self?.receive(OwnerMessage(text), text, for: owner)
        } look: { [weak self] in
            self?.look()
        }
        listener.withLock { $0 = made }
    }

    private var ear: PostgresListener? { listener.withLock { $0 } }

    func close() {
        let ended = state.withLock { state in
            defer {
                (state.isClosed, state.requests, state.news, state.attentions, state.work) = (true, [:], [:], [:], [:])
            }
            return state
        }
        for listening in ended.requests.values { listening.continuation.finish() }
        for listening in ended.news.values { listening.finish() }
        for listening in ended.attentions.values { listening.finish() }
        for listening in ended.work.values { listening.finish() }
        ear?.close()
    }

    // MARK: Telling

    /// Tells an owner in the transaction that has something for it, so that it hears of it with the commit.
    static func tell(
        _ message: OwnerMessage, _ owner: OwnerID, _ connection: PostgresConnection
    ) throws(JournalFailure) {
        try connection.run(
            "SELECT pg_notify(:channel, :text)",
            ["channel": PostgresListener.channel(of: owner), "text": message.text], expecting: nil
        ) { .stale }
    }

    /// Tells all workers that there may be a job which nobody has. Several in one transaction are told once, by the server.
    static func tellOfWork(_ connection: PostgresConnection) throws(JournalFailure) {
        try connection.run(
            "SELECT pg_notify(:channel, 'work')", ["channel": PostgresListener.everybody], expecting: nil
        ) { .stale }
    }

    func tellAll(_ message: OwnerMessage) { _ = ear?.send(message.text, on: PostgresListener.everybody) }

    func send(_ message: OwnerMessage, to owner: OwnerID) -> Bool {
        // A message may have 8,000 bytes (NOTIFY).
        let text = message.text.utf8.count < 7_900 ? message.text : nil
        guard let text else { return false }
        return ear?.send(text, on: PostgresListener.channel(of: owner)) ?? false
    }

    /// Tells whoever watches the event's job of it.
    func show(_ event: JobEvent) {
        for owner in watchers.owners(for: event.job, at: clock.now) {
            if !event.kind.isJournaled, send(.event(event), to: owner) { continue }
            _ = send(.changed(event.job), to: owner)
        }
    }

    func isWatched(_ job: JobID) -> Bool { !attendants.owners(for: job, at: clock.now).isEmpty }
    var isHearing: Bool { ear?.isHearing ?? false }

    // MARK: Hearing

    private func receive(_ message: OwnerMessage, _ text: String, for owner: OwnerID?) {
        if owner == nil, text == "work" { return tellWork() }
        if owner == nil, text.hasPrefix("ping ") { return }
        switch message {
        case .inbox(let job): lookForRequests(of: owner, naming: job)
        case .watch(let other, let job): watchers.add(other, job, at: clock.now)
        case .attend(let other, let job):
            if attendants.add(other, job, at: clock.now) { tell(OwnerSignal.watched(job)) }
        case .delaysReset(let pipeline): tell(OwnerSignal.delaysReset(pipeline: pipeline))
        case .changed(let job): tell(JournalSignal.changed(job))
        case .event(let event): tell(JournalSignal.event(event))
        }
    }

    private func tell(_ news: JournalSignal) {
        for listening in state.withLock({ $0.news.values }) { listening.yield(news) }
    }

    private func tell(_ attention: OwnerSignal) {
        for listening in state.withLock({ $0.attentions.values }) { listening.yield(attention) }
    }

    private func tellWork() { for listening in state.withLock({ $0.work.values }) { listening.yield() } }

    /// What no message told, or one that was lost.
    private func look() {
        for owner in Set(state.withLock { $0.requests.values.map(\.owner) }) { lookForRequests(of: owner, naming: nil) }
        tellWork()
    }

    private func lookForRequests(of owner: OwnerID?, naming named: JobID?) {
        let listening = state.withLock { state in state.requests.values.filter { $0.owner == owner } }
        guard let owner, !listening.isEmpty else { return }
        let found = Result { () throws(JournalFailure) in
            try reader.readBlocking { (reader) throws(JournalFailure) in try reader.requests(for: owner) }
        }
        var jobs = (try? found.get()) ?? []
        if let named, !jobs.contains(named) { jobs.append(named) }
        for listening in listening {
            for job in jobs { listening.continuation.yield(job) }
        }
    }

    func requests(for owner: OwnerID) -> AsyncStream<JobID> {
        AsyncStream { continuation in
            let id = add { $0.requests[$1] = (owner, continuation) }
            guard let id, ear?.listen(for: owner) == true else { return continuation.finish() }
            continuation.onTermination = { [weak self] _ in
                self?.state.withLock { _ = $0.requests.removeValue(forKey: id) }
            }
            // Another may listen for the owner already.
            lookForRequests(of: owner, naming: nil)
        }
    }

    func news() -> AsyncStream<JournalSignal> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1024)) { continuation in
            let id = add { $0.news[$1] = continuation }
            guard let id, ear?.listen(for: owner) == true else { return continuation.finish() }
            continuation.onTermination = { [weak self] _ in self?.state.withLock { _ = $0.news.removeValue(forKey: id) }
            }
        }
    }

    func attentions() -> AsyncStream<OwnerSignal> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1024)) { continuation in
            let id = add { $0.attentions[$1] = continuation }
            guard let id, ear?.listen(for: owner) == true else { return continuation.finish() }
            continuation.onTermination = { [weak self] _ in
                self?.state.withLock { _ = $0.attentions.removeValue(forKey: id) }
            }
        }
    }

    /// Returns when it may be worth while to look for jobs that nobody has.
    func work() -> AsyncStream<Void> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let id = add { $0.work[$1] = continuation }
            guard let id, ear?.listen(for: owner) == true else { return continuation.finish() }
            continuation.onTermination = { [weak self] _ in self?.state.withLock { _ = $0.work.removeValue(forKey: id) }
            }
            continuation.yield()
        }
    }

    /// Adds one of those that are told; nil once the journal is closed.
    private func add(_ body: (inout State, Int) -> Void) -> Int? {
        state.withLock { state in
            if state.isClosed { return nil }
            state.count += 1
            body(&state, state.count)
            return state.count
        }
    }

    // MARK: Claims

    func keep(_ leases: [Lease]) {
        let now = clock.now
        state.withLock { state in for lease in leases { state.claims[lease.job] = (lease, now) } }
    }

    /// The lease of a job that was claimed and not begun. A job that is acquired is wanted: it is declined no more.
    func takeClaim(of job: JobID) -> Lease? {
        state.withLock { state in
            state.declined[job] = nil
            return state.claims.removeValue(forKey: job)?.lease
        }
    }

    func isClaimed(_ job: JobID) -> Bool { state.withLock { $0.claims[job] != nil } }

    /// Takes a claimed job out that nobody wants to begin here, for five minutes.
    func decline(_ job: JobID) -> Lease? {
        let now = clock.now
        return state.withLock { state in
            state.declined[job] = now + 300_000
            return state.claims.removeValue(forKey: job)?.lease
        }
    }

    /// A job is let go since it can't go on here: others may try it, this process does after five minutes.
    func leaveToOthers(_ job: JobID) {
        let now = clock.now
        state.withLock { $0.suspended[job] = now + 300_000 }
    }

    /// The jobs that this process does not want for now, and those that it does only once nothing holds them.
    var unwanted: (always: [JobID], whileSuspended: [JobID]) {
        let now = clock.now
        return state.withLock { state in
            state.declined = state.declined.filter { $0.value > now }
            state.suspended = state.suspended.filter { $0.value > now }
            return (Array(state.declined.keys), Array(state.suspended.keys))
        }
    }

    /// The claims that have waited for their beginning for more than a minute.
    func takeOldClaims() -> [Lease] {
        let limit = clock.now - 60_000
        return state.withLock { state in
            let old = state.claims.values.filter { $0.time < limit }.map(\.lease)
            for lease in old { state.claims[lease.job] = nil }
            return old
        }
    }

    var claims: Int { state.withLock { $0.claims.count } }
}
