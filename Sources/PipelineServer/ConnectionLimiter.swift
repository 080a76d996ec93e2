package import NIOCore
import Synchronization

/// A listener's connections, of which there may be only so many. When there is one more, the oldest goes that has not shown
/// who it is: holding connections open keeps nobody else out.
package final class ConnectionLimiter: Sendable {
    private struct State {
        /// In the order of arrival.
        var strangers: [any Channel] = []
        var known: [any Channel] = []
        /// The tasks that are at work for connections, by the order of their begin.
        var work: [Int: Task<Void, Never>] = [:]
        var begun = 0
    }

    private let limit: Int
    private let state = Mutex(State())

    package init(limit: Int) { self.limit = limit }

    /// Counts a connection until it is closed, and lets the oldest stranger go where there are too many; false when all of
    /// them are known.
    package func admit(_ channel: any Channel) -> Bool {
        let (isAdmitted, oldest) = state.withLock { state -> (Bool, (any Channel)?) in
            let isFull = state.strangers.count + state.known.count >= limit
            guard !isFull || !state.strangers.isEmpty else { return (false, nil) }
            let oldest = isFull ? state.strangers.removeFirst() : nil
            state.strangers.append(channel)
            return (true, oldest)
        }
        oldest?.close(promise: nil)
        if isAdmitted { channel.closeFuture.whenComplete { _ in self.forget(channel) } }
        return isAdmitted
    }

    /// The connection has shown who it is: it stays.
    package func keep(_ channel: any Channel) {
        state.withLock { state in
            guard let place = state.strangers.firstIndex(where: { $0 === channel }) else { return }
            state.strangers.remove(at: place)
            state.known.append(channel)
        }
    }

    /// Runs what is to be done for a connection; the end waits for it.
    @discardableResult
    package func run(_ work: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
        state.withLock { state in
            state.begun += 1
            let number = state.begun
            let task = Task {
                await work()
                self.state.withLock { $0.work[number] = nil }
            }
            state.work[number] = task
            return task
        }
    }

    /// Closes all of them, and returns when nothing is done for them any more.
    package func closeAll() async {
        let (channels, work) = state.withLock { ($0.strangers + $0.known, Array($0.work.values)) }
        for channel in channels { try? await channel.close().get() }
        for task in work {
            task.cancel()
            await task.value
        }
    }

    private func forget(_ channel: any Channel) {
        state.withLock { state in
            state.strangers.removeAll { $0 === channel }
            state.known.removeAll { $0 === channel }
        }
    }
}
