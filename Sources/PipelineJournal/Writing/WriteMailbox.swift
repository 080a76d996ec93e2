import PipelineCore
import Synchronization

/// The mailbox in which calls wait for the writer: many put, one takes.
///
/// `take` gathers: after a group of several calls it waits a moment for as many again, so that jobs which run side by
/// side share a transaction although their calls do not come at the same instant (as PostgreSQL's commit_delay does).
/// After a single call it waits for nothing: one job alone never pays for it.
final class WriteMailbox<Connection: JournalConnection>: Sendable {
    private struct State {
        var calls: [QueuedWrite<Connection>] = []
        /// The calls that were refused and are written with the next that come, and before them.
        var postponed: [QueuedWrite<Connection>] = []
        /// With how many calls in the box the writer is woken; nil while it does not wait.
        var wanted: Int?
        var isClosed = false
    }

    private let state = Mutex(State())
    private let bell = Bell()
    /// The longest that a call waits for company, and the share of it that each expected call is worth: on two processors
    /// calls of jobs side by side come 100 to 350 µs apart. With less each group would be smaller than the one before.
    private static var longestGathering: Int { 4_000 }
    private static var gatheringPerCall: Int { 400 }

    /// Puts a call into the box and returns once it is committed. `onCommit` runs on the writer's thread before any later
    /// call is written.
    func submit<Value: Sendable>(
        onCommit: @escaping @Sendable (Value) -> Void,
        _ body: @escaping @Sendable (JobRows<Connection>) throws(JournalFailure) -> Value
    ) async throws(JournalFailure) -> Value {
        typealias Caller = CheckedContinuation<Result<Value, JournalFailure>, Never>
        let result = await withCheckedContinuation { (continuation: Caller) in
            let call = QueuedWrite<Connection>(
                perform: { (rows) throws(JournalFailure) in
                    let value = try body(rows)
                    return {
                        onCommit(value)
                        continuation.resume(returning: .success(value))
                    }
                },
                refuse: { failure in continuation.resume(returning: .failure(failure)) })
            if !put(call) { call.refuse(.other("the journal is closed")) }
        }
        return try result.get()
    }

    /// Does the same for a call that must be written at last. When it is refused that is thrown, and it is written with the
    /// next group of calls that is: who waits for what it changes need not ask again.
    func submitForSure(
        onCommit: @escaping @Sendable () -> Void,
        _ body: @escaping @Sendable (JobRows<Connection>) throws(JournalFailure) -> Void
    ) async throws(JournalFailure) {
        do throws(JournalFailure) {
            try await submit(onCommit: { (_: Void) in onCommit() }, body)
        } catch {
            postpone(onCommit: onCommit, body)
            throw error
        }
    }

    /// Has the writer write what calls have measured and is held back; once the box is closed it does so as the last thing.
    func flush(until end: ThreadEnd) async {
        if isClosed { return await end.wait() }
        try? await submit(onCommit: { (_: Void) in }) { (rows) in rows.gathered.noteLast() }
    }

    private func postpone(
        onCommit: @escaping @Sendable () -> Void,
        _ body: @escaping @Sendable (JobRows<Connection>) throws(JournalFailure) -> Void
    ) {
        let call = QueuedWrite<Connection>(
            perform: { (rows) throws(JournalFailure) in
                try body(rows)
                return onCommit
            },
            refuse: { [weak self] _ in self?.postpone(onCommit: onCommit, body) })
        state.withLock { $0.postponed.append(call) }
    }

    /// Puts a call into the box; false when the journal is closed.
    private func put(_ call: QueuedWrite<Connection>) -> Bool {
        let (isTaken, rings) = state.withLock { state -> (Bool, Bool) in
            if state.isClosed { return (false, false) }
            state.calls.append(call)
            guard let wanted = state.wanted, state.calls.count >= wanted else { return (true, false) }
            state.wanted = nil
            return (true, true)
        }
        if rings { bell.ring() }
        return isTaken
    }

    /// No more calls are put; those in the box are still taken.
    func close() {
        let rings = state.withLock { state in
            state.isClosed = true
            defer { state.wanted = nil }
            return state.wanted != nil
        }
        if rings { bell.ring() }
    }

    var isClosed: Bool { state.withLock { $0.isClosed } }

    /// The calls that are there, gathered with as many as `expected`; the postponed alone when none came in so many milliseconds;
    /// nil when the box is closed and empty. For the writer's thread.
    func take(expecting expected: Int, milliseconds: Int?) -> [QueuedWrite<Connection>]? {
        wait(for: 1, microseconds: milliseconds.map { $0 * 1000 })
        if expected > 1, state.withLock({ !$0.calls.isEmpty }) {
            let patience = min(Self.longestGathering, expected * Self.gatheringPerCall)
            wait(for: expected, microseconds: patience)
        }
        return state.withLock { state in
            if state.isClosed, state.calls.isEmpty { return nil }
            defer { (state.calls, state.postponed) = ([], []) }
            return state.postponed + state.calls
        }
    }

    private func wait(for count: Int, microseconds: Int?) {
        let waits = state.withLock { state in
            guard state.calls.count < count, !state.isClosed else { return false }
            state.wanted = count
            return true
        }
        guard waits, !bell.wait(microseconds: microseconds) else { return }
        // Who put the last call may have decided to ring just as the time ran out: that ring is taken here.
        let isRinging = state.withLock { state in
            defer { state.wanted = nil }
            return state.wanted == nil
        }
        if isRinging { bell.wait() }
    }
}
