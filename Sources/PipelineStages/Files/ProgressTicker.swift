import PipelineCore
import Synchronization

/// Turns the many reports of a transfer, on the transport's thread, into few wake-ups of its stage.
///
/// A wake-up is due when a part's worth of bytes moved or some time has passed since the last one. Wake-ups that the
/// stage has no time for are merged.
final class ProgressTicker: Sendable {
    private struct State: Sendable {
        var position: Int64
        var marked: Int64
        var markedAt: Timestamp
        /// The wake-up that was asked for later; nil for none.
        var reminder: Task<Void, Never>?
    }

    /// The time that a checkpoint of progress may be away while bytes move.
    static let interval = Duration.milliseconds(1500)

    /// One element for each wake-up; ends with ``end()``.
    let wakeUps: AsyncStream<Void>
    private let source: AsyncStream<Void>.Continuation
    private let state: Mutex<State>
    private let part: Int64
    private let now: @Sendable () -> Timestamp

    init(from position: Int64, part: Int64, now: @escaping @Sendable () -> Timestamp) {
        (wakeUps, source) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        state = Mutex(State(position: position, marked: position, markedAt: now()))
        self.part = part
        self.now = now
    }

    /// The place that was reached.
    var position: Int64 { state.withLock { $0.position } }

    /// Notes how far it is.
    func move(to position: Int64) {
        let isDue = state.withLock { state in
            state.position = position
            let time = now()
            guard position - state.marked >= part || time - state.markedAt >= Self.interval else { return false }
            state.marked = position
            state.markedAt = time
            return true
        }
        if isDue { source.yield() }
    }

    /// Wakes the stage at once.
    func signal() { source.yield() }

    /// Wakes the stage after a while; while one such wake-up is still to come, it stands for all that are asked for.
    func signal(in wait: Duration) {
        state.withLock { state in
            guard state.reminder == nil else { return }
            state.reminder = Task { [weak self] in
                do { try await Task.sleep(for: wait) } catch { return }
                self?.remind()
            }
        }
    }

    private func remind() {
        state.withLock { $0.reminder = nil }
        source.yield()
    }

    /// No more wake-ups.
    func end() {
        state.withLock { $0.reminder?.cancel() }
        source.finish()
    }

    /// Carries out something that reports to these marks and, next to it, what each wake-up asks for.
    ///
    /// When that throws, the transfer is called off. When the task is cancelled, wake-ups end and the transfer's own
    /// result tells the rest.
    func during<Value: Sendable>(
        _ transfer: @escaping @Sendable () async -> Value, onWakeUp: () async throws(StageFailure) -> Void
    ) async throws(StageFailure) -> Value {
        async let value = ended(by: transfer)
        for await _ in wakeUps { try await onWakeUp() }
        return await value
    }

    private func ended<Value: Sendable>(by transfer: @Sendable () async -> Value) async -> Value {
        defer { end() }
        return await transfer()
    }
}
