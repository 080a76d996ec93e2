package import PipelineSimulation
import JSONPath
package import PipelineCore
import Synchronization

/// Sinks that do what a script says, in virtual time, and remember who was told of what.
package final class ScriptedSinks: Sendable {
    /// One notification that was taken.
    package struct Delivery: Sendable {
        package let notification: JobNotification
        package let time: Timestamp
        /// The process that sent it.
        package let process: SimulatedProcess
    }

    /// Called for each sending; what it throws the sink says. The number counts the earlier calls for the same
    /// notification.
    package typealias Script =
        @Sendable (JobNotification, Int, SimulatedProcess) async throws(NotificationFailure) -> Void

    private struct State {
        var calls: [String: Int] = [:]
        var deliveries: [Delivery] = []
    }

    private let state = Mutex(State())
    private let script: Script

    package init(_ script: @escaping Script = { _, _, _ in }) { self.script = script }

    /// All that was taken, in order.
    package var deliveries: [Delivery] { state.withLock { $0.deliveries } }

    /// The sinks as one process has them.
    package func of(_ process: SimulatedProcess) -> any NotificationSinks {
        ProcessSinks(sinks: self, process: process)
    }

    fileprivate func deliver(
        _ notification: JobNotification, by process: SimulatedProcess
    ) async throws(NotificationFailure) {
        let earlier = state.withLock { state in
            defer { state.calls[notification.id, default: 0] += 1 }
            return state.calls[notification.id] ?? 0
        }
        try await script(notification, earlier, process)
        state.withLock {
            $0.deliveries.append(Delivery(notification: notification, time: process.clock.now, process: process))
        }
        // It is taken, and nobody has kept that yet.
        process.pass(.pollAnswered)
    }
}

private struct ProcessSinks: NotificationSinks, NotificationSink {
    let sinks: ScriptedSinks
    let process: SimulatedProcess

    func sink(
        of entry: NotifyDefinition, in scope: Scope, source: SourceText
    ) async throws(NotificationFailure) -> any NotificationSink { self }

    func deliver(_ notification: JobNotification) async throws(NotificationFailure) {
        try await sinks.deliver(notification, by: process)
    }
}
