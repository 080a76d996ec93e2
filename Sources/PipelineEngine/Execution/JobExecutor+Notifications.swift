import JSONPath
import PipelineCore

/// Notifications going out: a sink is called in a task of its own, and whatever it does changes nothing for the job.
extension JobExecutor {
    /// How long a job that has ended waits for sinks that were called. What they have not taken by then is sent by the
    /// next owner.
    private static let lastPatience = Duration.seconds(5)
    /// Likewise of a job that is stopped.
    private static let shortPatience = Duration.seconds(1)

    /// Gives a notification to its sink.
    func deliver(_ record: NotificationRecord, _ group: inout DiscardingTaskGroup) {
        let entries = state.table.plan.definition.notifications
        guard let sinks = ports.sinks, entries.indices.contains(record.entry) else { return }
        let notification = record.notification(of: snapshot.record.id, pipeline: snapshot.record.pipeline)
        let (entry, scope, source) = (
            entries[record.entry], state.table.documentScope, state.table.plan.definition.source
        )
        group.addTask { [mailbox] in
            let result = await Self.deliver(notification, to: entry, scope, source, by: sinks)
            mailbox.post(.delivered(notification.id, result))
        }
    }

    /// On the concurrent executor, never on one of a job: a sink may do what it likes.
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

    /// Sends what is left to be told, and lets the job go as it was.
    func notifyOnly() async -> JobEnd {
        _ = await readSecrets()
        await withDiscardingTaskGroup { group in
            try? await deliverDue(&group, for: Self.lastPatience)
            group.cancelAll()
        }
        try? await ports.journal.release(lease)
        if snapshot.ended != nil { return .ended(snapshot.outcome) }
        return snapshot.phase(isOwned: false) == .unknown ? .unknown : .suspended(snapshot.cause ?? .crashed)
    }

    /// Sends what has happened before the job was let go, for a bounded time: under a lease of its own, since the one
    /// that the job was run by has ended. No failure of it is one of the job.
    func deliverRest(_ group: inout DiscardingTaskGroup) async {
        guard ports.sinks != nil else { return }
        let now = ports.clock.now
        let isUrgent =
            !state.isStopped && snapshot.openNotifications.contains { $0.state == .due && $0.isReady(at: now) }
        guard isUrgent || state.isDelivering else { return }
        guard let own = try? await ports.journal.acquire(snapshot.record.id, for: ports.owner) else { return }
        lease = own
        try? await deliverDue(&group, for: state.isStopped ? Self.shortPatience : Self.lastPatience)
        try? await ports.journal.release(own)
    }

    /// Sends what is due now, and returns when that is done or the time is over.
    private func deliverDue(
        _ group: inout DiscardingTaskGroup, for patience: Duration
    ) async throws(JournalFailure) {
        let end = ports.clock.elapsed + patience
        let limit = ports.clock.now + patience
        if !state.isStopped {
            _ = try await take(.notify)
            try await act(&group)
        }
        group.addTask { [mailbox, clock = ports.clock] in
            guard (try? await clock.sleep(until: limit)) != nil else { return }
            mailbox.post(.tick(limit))
        }
        while state.isDelivering, ports.clock.elapsed < end {
            let message = await mailbox.next()
            if case .delivered = message { try await receive(message) }
            try await commitDue()
            // Whoever stops a job that has ended does not want to wait for its notifications.
            if case .stop = message { break }
        }
        // A sink that is given up says so; one that took its notification at the last moment must be heard too.
        group.cancelAll()
        while state.isDelivering {
            let message = await mailbox.next()
            if case .delivered = message { try await receive(message) }
            try await commitDue()
        }
    }
}
