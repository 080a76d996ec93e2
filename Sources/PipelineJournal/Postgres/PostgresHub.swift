import PipelineCore
import PipelinePostgres
import PipelineSQL
import Synchronization

/// The messages that this process gets from others and sends them over the database, and the jobs that it has claimed
/// and not begun.
final class PostgresHub: Sendable {
    private struct State {
        /// The streams of jobs with a request, by their owner.
        var requests: [OwnerID: Hearers<JobID>] = [:]
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
    /// The streams of what other owners show, of who attends to this one's jobs, and of work that nobody may have.
    private let newsHearers = Hearers<JournalSignal>()
    private let attentionHearers = Hearers<OwnerSignal>()
    private let workHearers = Hearers<Void>()
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
        let requests = state.withLock { state in
            state.isClosed = true
            return state.requests
        }
        for hearers in requests.values { hearers.end() }
        newsHearers.end()
        attentionHearers.end()
        workHearers.end()
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
        if owner == nil, text == "work" { return workHearers.tell(()) }
        if owner == nil, text.hasPrefix("ping ") { return }
        switch message {
        case .inbox(let job): lookForRequests(of: owner, naming: job)
        case .watch(let other, let job): watchers.add(other, job, at: clock.now)
        case .attend(let other, let job):
            if attendants.add(other, job, at: clock.now) { attentionHearers.tell(.watched(job)) }
        case .delaysReset(let pipeline): attentionHearers.tell(.delaysReset(pipeline: pipeline))
        case .changed(let job): newsHearers.tell(.changed(job))
        case .event(let event): newsHearers.tell(.event(event))
        }
    }

    /// What no message told, or one that was lost.
    private func look() {
        for owner in state.withLock({ Array($0.requests.keys) }) { lookForRequests(of: owner, naming: nil) }
        workHearers.tell(())
    }

    private func lookForRequests(of owner: OwnerID?, naming named: JobID?) {
        guard let owner, let hearers = state.withLock({ $0.requests[owner] }), !hearers.isEmpty else { return }
        let found = Result { () throws(JournalFailure) in
            try reader.readBlocking { (reader) throws(JournalFailure) in try reader.requests(for: owner) }
        }
        var jobs = (try? found.get()) ?? []
        if let named, !jobs.contains(named) { jobs.append(named) }
        for job in jobs { hearers.tell(job) }
    }

    func requests(for owner: OwnerID) -> AsyncStream<JobID> {
        AsyncStream { continuation in
            let hearers = state.withLock { state -> Hearers<JobID>? in
                if state.isClosed { return nil }
                let hearers = state.requests[owner] ?? Hearers()
                state.requests[owner] = hearers
                return hearers
            }
            guard let hearers else { return continuation.finish() }
            // Another may listen for the owner already.
            if add(continuation, to: hearers, of: owner) { lookForRequests(of: owner, naming: nil) }
        }
    }

    func news() -> AsyncStream<JournalSignal> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1024)) { _ = add($0, to: newsHearers, of: owner) }
    }

    func attentions() -> AsyncStream<OwnerSignal> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1024)) { _ = add($0, to: attentionHearers, of: owner) }
    }

    /// Returns when it may be worth while to look for jobs that nobody has.
    func work() -> AsyncStream<Void> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            if add(continuation, to: workHearers, of: owner) { continuation.yield() }
        }
    }

    /// Adds a stream of those that are told what an owner hears; it ends at once, with false, when nothing can be heard.
    private func add<Told: Sendable>(
        _ stream: AsyncStream<Told>.Continuation, to hearers: Hearers<Told>, of owner: OwnerID
    ) -> Bool {
        guard hearers.add(stream) else { return false }
        if ear?.listen(for: owner) == true { return true }
        stream.finish()
        return false
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
