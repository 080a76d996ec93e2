import JSONPath
import PipelineCore

/// Who is told of what: rows are kept with what they tell of, sent when their time has come, and marked as sent with
/// the event that says so. A sink is called in a task of its own, and whatever it does changes nothing for the job.
extension JobExecutor {
    /// How long a job that has ended waits for sinks that were called. What they have not taken by then is sent by the
    /// next owner.
    static let lastPatience = Duration.seconds(5)
    /// The same of a job that is stopped.
    static let shortPatience = Duration.seconds(1)
    private static let mostAtATime = 16

    private var law: NotificationLaw { NotificationLaw(plan.definition.notifications, in: documentScope) }

    private var tells: Bool { ports.sinks != nil && !plan.definition.notifications.isEmpty }

    /// Changes with the notifications that follow from them.
    func told(_ changes: [JournalChange]) -> [JournalChange] {
        guard tells else { return changes }
        var all = changes
        if changes.contains(where: \.endsOwnership) {
            // What a sink has in its hands can't be taken back: it is sent, or withdrawn when the sink fails.
            all += law.withdrawn(from: snapshot).filter { !telling.sending.contains($0.id) }
                .map(JournalChange.notification)
        }
        for case .event(let event) in changes {
            all += law.records(for: event, of: snapshot).map(JournalChange.notification)
        }
        return all
    }

    /// Makes and moves the notifications of expected times, when something is known that was not known before, or
    /// before one of them is sent.
    func expect() async throws(JournalFailure) {
        guard tellsExpectations, telling.mayHaveMoved || isExpectationDue else { return }
        telling.mayHaveMoved = false
        let now = ports.clock.now
        // By a clock that was set back to before a step began nothing can be foretold: what is planned stays.
        let isBehind = snapshot.steps.values.contains { !$0.state.isEnded && ($0.started.map { $0 > now } ?? false) }
        guard !isBehind, let end = endEstimate else { return }
        let records = law.planned(for: snapshot, end: end.quantile, at: now)
        if !records.isEmpty { try stage(records.map(JournalChange.notification)) }
    }

    private var isExpectationDue: Bool {
        let now = ports.clock.now
        return snapshot.openNotifications.contains { $0.state == .planned && $0.due <= now }
    }

    /// When the next notification is to be sent.
    var nextNotification: Timestamp? {
        guard tells, telling.sending.count < Self.mostAtATime else { return nil }
        let now = ports.clock.now
        return snapshot.openNotifications.filter { !telling.sending.contains($0.id) }
            .map { $0.isReady(at: now) ? now : $0.due }.min()
    }

    /// Calls the sinks of what is due and kept.
    func tell(_ group: inout TaskGroup<Void>) {
        guard tells, let sinks = ports.sinks else { return }
        let now = ports.clock.now
        for record in snapshot.openNotifications
        where record.isReady(at: now) && telling.sending.count < Self.mostAtATime {
            guard let entry = law.entry(of: record), telling.sending.insert(record.id).inserted else { continue }
            let notification = record.notification(of: snapshot.record.id, pipeline: snapshot.record.pipeline)
            let scope = documentScope
            let source = plan.definition.source
            group.addTask { [mailbox] in
                let result = await Self.deliver(notification, to: entry, scope, source, by: sinks)
                mailbox.post(.told(notification.id, result))
            }
        }
    }

    /// On the concurrent executor, never on a driver: a sink may do what it likes.
    @concurrent private static func deliver(
        _ notification: JobNotification, to entry: NotifyDefinition, _ scope: Scope, _ source: SourceText,
        by sinks: any NotificationSinks
    ) async -> Result<Void, NotificationFailure> {
        do throws(NotificationFailure) {
            return .success(try await sinks.sink(of: entry, in: scope, source: source).deliver(notification))
        } catch {
            return .failure(error)
        }
    }

    /// Keeps what became of a notification: only one that was sent is an event.
    func toldResult(_ id: String, _ result: Result<Void, NotificationFailure>) async throws(JournalFailure) {
        telling.sending.remove(id)
        guard var record = snapshot.notifications[id], record.isOpen, let entry = law.entry(of: record) else { return }
        switch result {
        case .success:
            record.state = .sent
            record.problem = nil
            try await commit([
                .notification(record),
                event(
                    .notificationSent,
                    ["on": .string(record.event.rawValue), "sink": .string(entry.sink.name), "id": .string(id)]),
            ])
        case .failure(let failure):
            let safe = NotificationFailure(
                String(redactor.redact(failure.message).prefix(300)), hint: failure.hint.map { redactor.redact($0) },
                isRetryable: failure.isRetryable)
            var next = NotificationLaw.failed(
                record, safe, at: ports.clock.now, random: ports.randomness.unit())
            if record.state == .planned, snapshot.ended != nil || isStopped { next.state = .withdrawn }
            try await commit([.notification(next)])
        }
    }

    // MARK: After the end

    /// Sends what has happened before the job was let go, for a bounded time: under a lease of its own, since the one
    /// that the job was driven by has ended. No failure of it is one of the job.
    func tellRest(_ group: inout TaskGroup<Void>) async {
        guard tells else { return }
        let now = ports.clock.now
        let isUrgent = !isStopped && snapshot.openNotifications.contains { $0.state == .due && $0.isReady(at: now) }
        guard isUrgent || !telling.sending.isEmpty else { return }
        guard let own = try? await ports.journal.acquire(snapshot.record.id, for: ports.owner) else { return }
        writing = own
        try? await tellDue(&group, for: isStopped ? Self.shortPatience : Self.lastPatience)
        try? await ports.journal.release(own)
    }

    /// Whether its owner wants to be rid of it.
    private var isStopped: Bool { stop != nil && stop != .cancel }

    /// Sends what is due now, and returns when that is done or the time is over.
    func tellDue(_ group: inout TaskGroup<Void>, for patience: Duration) async throws(JournalFailure) {
        let limit = ports.clock.now + patience
        if !isStopped { tell(&group) }
        group.addTask { [mailbox, clock = ports.clock] in
            guard (try? await clock.sleep(until: limit)) != nil else { return }
            mailbox.post(.tick(limit))
        }
        while !telling.sending.isEmpty, ports.clock.now < limit {
            let message = await mailbox.next()
            if case .told(let id, let result) = message { try await toldResult(id, result) }
            // Whoever stops a job that has ended does not want to wait for its notifications.
            if case .stop = message { break }
        }
        // A sink that is given up says so; one that took its notification at the last moment must be heard too.
        group.cancelAll()
        while !telling.sending.isEmpty {
            if case .told(let id, let result) = await mailbox.next() { try await toldResult(id, result) }
        }
    }
}

/// What a driver knows of its notifications beside their rows; after a crash nothing of it is missed.
struct Telling {
    /// Those whose sinks are at work.
    var sending: Set<String> = []
    /// Whether something is known of the job's end that was not known when expectations were made last.
    var mayHaveMoved = true
}
