import Dispatch
import Synchronization

/// Opens once and stays open: how a test and a server wait for each other without sleeping.
package final class Gate: Sendable {
    private struct State: Sendable {
        var isOpen = false
        var waiters: [@Sendable () -> Void] = []
    }

    private let state = Mutex(State())

    package init() {}

    package var isOpen: Bool { state.withLock { $0.isOpen } }

    /// Lets everybody through, now and later; from any thread.
    package func open() {
        let waiters = state.withLock { state in
            state.isOpen = true
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter() }
    }

    /// Returns when the gate is open, or the task is cancelled.
    package func wait() async {
        let waiter = Waiter()
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                waiter.keep(continuation)
                whenOpen { waiter.resume() }
            }
        } onCancel: {
            waiter.resume()
        }
    }

    /// Blocks the calling thread until this gate or the other is open; not for Swift tasks.
    package func waitBlocking(orUntil other: Gate? = nil) {
        let semaphore = DispatchSemaphore(value: 0)
        whenOpen { semaphore.signal() }
        other?.whenOpen { semaphore.signal() }
        semaphore.wait()
    }

    /// Blocks the calling thread until this gate is open or the time is over.
    func waitBlocking(milliseconds: Int) {
        let semaphore = DispatchSemaphore(value: 0)
        whenOpen { semaphore.signal() }
        _ = semaphore.wait(timeout: .now() + .milliseconds(milliseconds))
    }

    private func whenOpen(_ action: @escaping @Sendable () -> Void) {
        let isOpen = state.withLock { state in
            if !state.isOpen { state.waiters.append(action) }
            return state.isOpen
        }
        if isOpen { action() }
    }
}

/// One who waits, and is let go once.
private final class Waiter: Sendable {
    private let state = Mutex<(continuation: CheckedContinuation<Void, Never>?, isLetGo: Bool)>((nil, false))

    func keep(_ continuation: CheckedContinuation<Void, Never>) {
        let isLetGo = state.withLock { state in
            if !state.isLetGo { state.continuation = continuation }
            return state.isLetGo
        }
        if isLetGo { continuation.resume() }
    }

    func resume() {
        let continuation = state.withLock { state in
            defer { state = (nil, true) }
            return state.continuation
        }
        continuation?.resume()
    }
}
