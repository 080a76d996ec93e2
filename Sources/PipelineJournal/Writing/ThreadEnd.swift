import Synchronization

/// The end of a thread, which any number of tasks may wait for.
final class ThreadEnd: Sendable {
    private struct State {
        var hasEnded = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    /// Returns once the thread has ended.
    func wait() async {
        await withCheckedContinuation { continuation in
            let hasEnded = state.withLock { state in
                if !state.hasEnded { state.waiting.append(continuation) }
                return state.hasEnded
            }
            if hasEnded { continuation.resume() }
        }
    }

    /// Lets go all who wait.
    func mark() {
        let waiting = state.withLock { state in
            defer { state = State(hasEnded: true) }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }
}
