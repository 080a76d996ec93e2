import PipelineCore
import Synchronization

/// A sleep that can be ended early; one for each time that is waited for.
final class Alarm: Sendable {
    private struct State {
        var isStopped = false
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    /// Ends the sleep; from any thread, any number of times.
    func stop() {
        let waiter = state.withLock { state in
            state.isStopped = true
            return state.waiter.take()
        }
        waiter?.resume()
    }

    /// Whether the time came before ``stop()``.
    func sleep(until time: Timestamp, by clock: any WallClock) async -> Bool {
        await withTaskGroup(of: Bool.self) { group in
            group.addTask { (try? await clock.sleep(until: time)) != nil }
            group.addTask {
                await self.stopped()
                return false
            }
            let hasCome = await group.next() ?? false
            group.cancelAll()
            return hasCome
        }
    }

    private func stopped() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isStopped = state.withLock { state in
                    if !state.isStopped { state.waiter = continuation }
                    return state.isStopped
                }
                if isStopped { continuation.resume() }
            }
        } onCancel: {
            stop()
        }
    }
}
