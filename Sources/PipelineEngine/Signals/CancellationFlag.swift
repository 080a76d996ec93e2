import Synchronization

/// A wish to stop: said from any thread, any number of times, and waited for by one task.
final class CancellationFlag: Sendable {
    private struct State {
        var isRaised = false
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    var isRaised: Bool { state.withLock(\.isRaised) }

    func raise() {
        let waiter = state.withLock { state in
            state.isRaised = true
            return state.waiter.take()
        }
        waiter?.resume()
    }

    /// Returns once it is raised; a task that is cancelled raises it.
    func raised() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isRaised = state.withLock { state in
                    if !state.isRaised { state.waiter = continuation }
                    return state.isRaised
                }
                if isRaised { continuation.resume() }
            }
        } onCancel: {
            raise()
        }
    }
}
