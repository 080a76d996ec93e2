import JSONPath

/// The notifications of a job that are made, moved, sent and withdrawn: rows are kept with what they tell of, given to
/// their sinks when their time has come, and marked as sent with the event that says so.
struct NotificationQueue: Sendable {
    /// Those whose sinks are at work.
    private(set) var sending: Set<String> = []
    /// True if something is known of the job's end that was not known when expectations were made last.
    var mayHaveMoved = true
    /// Those that are still to be sent.
    private var open: [String: NotificationRecord] = [:]
    private let isOn: Bool
    private let expects: Bool
    private static let mostAtATime = 16

    /// - Parameter hasSinks: whether anybody can be told.
    init(_ table: JobTable, hasSinks: Bool) {
        let entries = table.plan.definition.notifications
        isOn = hasSinks && !entries.isEmpty
        expects = isOn && NotificationLaw.asksEstimate(entries)
        for record in table.snapshot.notifications.values where record.isOpen { open[record.id] = record }
    }

    private func law(_ table: JobTable) -> NotificationLaw {
        NotificationLaw(table.plan.definition.notifications, in: table.documentScope)
    }

    private mutating func record(_ record: NotificationRecord, in table: inout JobTable) {
        open[record.id] = record.isOpen ? record : nil
        table.record(.notification(record))
    }

    /// Adds the rows that follow from the changes that are about to be committed.
    mutating func follow(_ table: inout JobTable) {
        guard isOn else { return }
        let changes = table.openChanges
        guard changes.contains(where: { $0.endsOwnership || $0.isEvent }) else { return }
        let law = law(table)
        if changes.contains(where: \.endsOwnership) {
            // What a sink has in its hands can't be taken back: it is sent, or withdrawn when the sink fails.
            for record in law.withdrawn(from: table.snapshot) where !sending.contains(record.id) {
                self.record(record, in: &table)
            }
        }
        for case .event(let event) in changes {
            for record in law.records(for: event, of: table.snapshot) { self.record(record, in: &table) }
        }
    }

    /// Makes and moves the notifications of expected times, when something is known that was not known before, or
    /// before one of them is sent.
    mutating func expect(_ table: inout JobTable, _ marks: EstimateMarks, _ watch: ResumeWatch) {
        let now = table.moment.time
        guard expects, mayHaveMoved || open.values.contains(where: { $0.state == .planned && $0.due <= now }) else {
            return
        }
        mayHaveMoved = false
        guard let end = marks.jobEstimate(of: table, watch, isPromise: true) else { return }
        for record in law(table).planned(for: table.snapshot, end: end.quantile, at: now) {
            self.record(record, in: &table)
        }
    }

    /// Moves what is still to be sent along with a clock that was set by so much.
    mutating func setClock(by shift: Duration, in table: inout JobTable) {
        for var record in open.values.sorted(by: { $0.id < $1.id }) {
            record.due += shift
            record.failingSince = record.failingSince.map { $0 + shift }
            if record.state == .planned { record.time += shift }
            self.record(record, in: &table)
        }
        mayHaveMoved = true
    }

    /// Returns when the next notification is to be sent.
    func next(at now: Timestamp) -> Timestamp? {
        guard isOn, sending.count < Self.mostAtATime else { return nil }
        return open.values.filter { !sending.contains($0.id) }.map { $0.isReady(at: now) ? now : $0.due }.min()
    }

    /// Those that are to be given to their sinks now.
    mutating func takeDue(_ table: JobTable) -> [NotificationRecord] {
        guard isOn, !open.isEmpty else { return [] }
        let now = table.moment.time
        let ready = open.values.filter { $0.isReady(at: now) && !sending.contains($0.id) }
            .sorted { ($0.due, $0.id) < ($1.due, $1.id) }
        let count = table.plan.definition.notifications.count
        let taken = ready.prefix(Self.mostAtATime - sending.count).filter { (0..<count).contains($0.entry) }
        sending.formUnion(taken.map(\.id))
        return taken
    }

    /// Keeps what became of one: only one that was sent is an event.
    mutating func delivered(
        _ id: String, _ result: Result<Void, NotificationFailure>, random: Double, isOver: Bool,
        in table: inout JobTable
    ) {
        sending.remove(id)
        guard var record = table.snapshot.notifications[id], record.isOpen, let entry = law(table).entry(of: record)
        else { return }
        switch result {
        case .success:
            record.state = .sent
            record.problem = nil
            self.record(record, in: &table)
            table.publish(
                .notificationSent,
                ["on": .string(record.event.rawValue), "sink": .string(entry.sink.name), "id": .string(id)])
        case .failure(let failure):
            let redactor = table.moment.redactor
            let safe = NotificationFailure(
                String(redactor.redact(failure.message).prefix(300)), hint: failure.hint.map { redactor.redact($0) },
                isRetryable: failure.isRetryable)
            var next = NotificationLaw.failed(record, safe, at: table.moment.time, random: random)
            if record.state == .planned, isOver { next.state = .withdrawn }
            self.record(next, in: &table)
        }
    }
}

extension JournalChange {
    fileprivate var isEvent: Bool { if case .event = self { true } else { false } }
}
