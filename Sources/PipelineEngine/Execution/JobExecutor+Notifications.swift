import PipelineCore

/// Notifications that go out once a job has been let go.
extension JobExecutor {
    /// The time for which a job that has ended waits for sinks that were called. The next owner sends what they have not
    /// taken by then.
    private static let lastPatience = Duration.seconds(5)
    /// The time for which a job that is stopped waits for them.
    private static let shortPatience = Duration.seconds(1)

    /// Sends what is left to be told, and lets the job go as it was.
    func notifyOnly() async -> JobEnd {
        _ = await readSecrets()
        await withDiscardingTaskGroup { group in
            try? await deliverDue(&group, for: Self.lastPatience)
            group.cancelAll()
        }
        try? await ports.journal.release(writer.lease)
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
        // Whoever had it in between has told what there was to tell; what is known here is of before.
        if own.epoch == writer.lease.epoch + 1 {
            writer.lease = own
            try? await deliverDue(&group, for: state.isStopped ? Self.shortPatience : Self.lastPatience)
        }
        try? await ports.journal.release(own)
    }

    /// Sends what is due now, and returns when that is done or the time is over.
    private func deliverDue(
        _ group: inout DiscardingTaskGroup, for patience: Duration
    ) async throws(JournalFailure) {
        let end = ports.clock.elapsed + patience
        let limit = ports.clock.now + patience
        group.addTask { [mailbox, clock = ports.clock] in
            guard (try? await clock.sleep(until: limit)) != nil else { return }
            mailbox.post(.tick(limit))
        }
        while ports.clock.elapsed < end {
            // There may be more than are sent at a time.
            if !state.isStopped {
                _ = try await take(.notify)
                try await act(&group)
            }
            guard state.isDelivering else { break }
            // Whoever stops a job that has ended does not want to wait for its notifications.
            if case .stop = try await takeDelivery() { break }
        }
        // A sink that is given up says so; one that took its notification at the last moment must be heard too.
        group.cancelAll()
        while state.isDelivering { _ = try await takeDelivery() }
    }

    /// Takes the next message in if it says what became of a notification.
    private func takeDelivery() async throws(JournalFailure) -> ExecutorMessage {
        let message = await mailbox.next()
        if case .delivered = message { try await receive(message) }
        try await writer.commit()
        return message
    }
}
