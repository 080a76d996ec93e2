import Synchronization

/// The turns in which the jobs of callbacks are read, a few at a time: those who run jobs read in the same queue.
final class CallbackTurns: Sendable {
    private struct State {
        var free = 4
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    /// Does something once it is its turn.
    func take<Value, Failure: Error>(
        _ work: () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                if state.free == 0 { state.waiting.append(continuation) }
                defer { state.free = max(0, state.free - 1) }
                return state.free > 0
            }
            if isFree { continuation.resume() }
        }
        defer { pass() }
        return try await work()
    }

    private func pass() {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            if state.waiting.isEmpty {
                state.free += 1
                return nil
            }
            return state.waiting.removeFirst()
        }
        next?.resume()
    }
}
