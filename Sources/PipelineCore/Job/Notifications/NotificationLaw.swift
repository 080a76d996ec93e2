import JSONPath

/// Which rows of notifications follow from what happens to a job: a pure function of its `notify` and of the time.
package struct NotificationLaw: Sendable {
    private let entries: [NotifyDefinition]
    private let scope: Scope

    /// - Parameter scope: what expressions of `notify` may read.
    package init(_ entries: [NotifyDefinition], in scope: Scope) {
        self.entries = entries
        self.scope = scope
    }

    /// Returns whether somebody is to be told of a time that an estimate gives.
    package static func asksEstimate(_ entries: [NotifyDefinition]) -> Bool {
        entries.contains { $0.events.contains(.estimated) || $0.events.contains(.late) }
    }

    /// The entry that a row belongs to; nil for a row of another document.
    package func entry(of record: NotificationRecord) -> NotifyDefinition? {
        entries.indices.contains(record.entry) ? entries[record.entry] : nil
    }

    // MARK: What happened

    /// The rows that an event makes, to be kept with it.
    package func records(for event: JobEvent, of job: JobSnapshot) -> [NotificationRecord] {
        guard let told = Self.told(event), let sequence = event.sequence else { return [] }
        return entries.enumerated().filter { $1.events.contains(told) && $1.sink.isOn(in: scope) }.map { place, _ in
            NotificationRecord(
                id: "\(event.job)-\(place)-\(sequence)", entry: place, event: told, state: .due, due: event.time,
                time: event.time, title: NotificationText.title(of: event, told),
                data: NotificationText.data(of: event, told, job))
        }
    }

    private static func told(_ event: JobEvent) -> NotifyDefinition.Event? {
        switch event.kind {
        case .jobStarted: .started
        case .jobSucceeded: .succeeded
        case .jobFailed: .failed
        case .stageUnknown: .unknown
        case .resumeDeferred: .deferred
        default: nil
        }
    }

    // MARK: What is expected

    /// The rows that an estimate makes or moves. One that was sent stays as it is, whatever is expected later.
    ///
    /// - Parameter end: seconds from now until the end, by its probability; counted from when each step began, so that
    ///   the mere passing of time moves nothing.
    package func planned(
        for job: JobSnapshot, end: (Double) -> Double, at now: Timestamp
    ) -> [NotificationRecord] {
        entries.enumerated().flatMap { place, entry -> [NotificationRecord] in
            guard entry.sink.isOn(in: scope) else { return [] }
            return entry.events.compactMap { event -> NotificationRecord? in
                guard let share = share(event, entry) else { return nil }
                let time = now + .milliseconds(Int64(max(0, min(end(share), 3e9)) * 1000))
                return planned(event, place, time, job, now)
            }
        }
    }

    private func share(_ event: NotifyDefinition.Event, _ entry: NotifyDefinition) -> Double? {
        switch event {
        case .estimated: (try? entry.quantile?.value(in: scope)) ?? 0.5
        case .late: 0.99
        case .started, .succeeded, .failed, .unknown, .deferred: nil
        }
    }

    private func planned(
        _ event: NotifyDefinition.Event, _ place: Int, _ time: Timestamp, _ job: JobSnapshot, _ now: Timestamp
    ) -> NotificationRecord? {
        let id = "\(job.record.id)-\(place)-\(event.rawValue)"
        let record = NotificationRecord(
            id: id, entry: place, event: event, state: .planned, due: time, time: time,
            title: NotificationText.title(of: event, job.record.pipeline))
        switch job.notifications[id] {
        case nil: return record
        case let old? where old.state == .withdrawn: return record
        case let old? where old.state == .planned:
            // A row is worth writing again only for a move that somebody would notice.
            let noticed = max(1, (old.due - now).seconds.magnitude * 0.02)
            return (old.due - time).seconds.magnitude > noticed ? record : nil
        default: return nil
        }
    }

    /// Returns what is no more to be expected of a job that has ended or was let go.
    package func withdrawn(from job: JobSnapshot) -> [NotificationRecord] {
        job.openNotifications.filter { $0.state == .planned }.map { record in
            var record = record
            record.state = .withdrawn
            return record
        }
    }

    // MARK: What became of it

    /// So long after its first failure a sink is given up.
    package static let patience = Duration.seconds(86_400)
    private static let firstDelay = 5.0

    /// The row after its sink failed: tried again after 5 s, three times as long each time up to a quarter of an hour,
    /// with half of it by chance; given up after a day, or at once when trying again can't help.
    ///
    /// - Parameter random: uniform in 0..<1.
    package static func failed(
        _ record: NotificationRecord, _ failure: NotificationFailure, at now: Timestamp, random: Double
    ) -> NotificationRecord {
        var record = record
        record.failures += 1
        record.problem = failure.message
        record.failingSince = record.failingSince ?? now
        record.state = .due
        var delay = firstDelay
        for _ in 1..<min(record.failures, 8) { delay = min(delay * 3, NotificationRecord.longestDelay.seconds) }
        let isOver = now - (record.failingSince ?? now) >= patience
        guard failure.isRetryable, !isOver else {
            record.state = .abandoned
            return record
        }
        record.due = now + .milliseconds(Int64(delay * (0.5 + random / 2) * 1000))
        return record
    }
}
