import Synchronization

/// Counts what happens, as it happens. Kept in memory only: a restart begins at zero.
final class Statistics: Sendable {
    private let state = Mutex(State())

    private struct State {
        var counters = Counters()
        /// The number of the upload behind each path that the upload library gave out.
        var resumable: [String: Int] = [:]
        var observers: [Int: AsyncStream<Counters>.Continuation] = [:]
        var observersMade = 0
    }

    var counters: Counters { state.withLock { $0.counters } }

    /// The counters as they are, and after each change; who reads slowly gets the last.
    var changes: AsyncStream<Counters> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let number = state.withLock { state in
                state.observersMade += 1
                state.observers[state.observersMade] = continuation
                continuation.yield(state.counters)
                return state.observersMade
            }
            continuation.onTermination = { [weak self] _ in
                self?.state.withLock { _ = $0.observers.removeValue(forKey: number) }
            }
        }
    }

    private func change<Result>(_ work: (inout State) -> Result) -> Result {
        // Told under the lock, so that the last that is told is the last.
        state.withLock { state in
            defer { for observer in state.observers.values { observer.yield(state.counters) } }
            return work(&state)
        }
    }

    /// For counters that need no key.
    func count(_ counter: any WritableKeyPath<Counters, Int> & Sendable) {
        change { $0.counters[keyPath: counter] += 1 }
    }

    /// A request that makes a new upload has come.
    /// - Returns: the upload's number, from 1.
    func uploadCreated() -> Int {
        change { state in
            state.counters.uploadsCreated += 1
            let number = state.counters.uploadsCreated
            state.counters.uploads.append(.init(number: number, requests: 1))
            return number
        }
    }

    /// The upload can be continued at this path.
    func upload(_ number: Int, continuesAt path: String) {
        change { $0.resumable[path] = number }
    }

    /// A request that continues an upload has come.
    /// - Returns: the upload's number, or nil if none was ever given that path.
    func uploadContinued(at path: String) -> Int? {
        change { state in
            guard let number = state.resumable[path] else { return nil }
            state.counters.uploads[number - 1].requests += 1
            return number
        }
    }

    func received(_ bytes: Int, upload number: Int?) {
        change { state in
            state.counters.uploadBytesReceived += bytes
            if let number { state.counters.uploads[number - 1].bytes += bytes }
        }
    }

    func upload(_ number: Int, became video: String) {
        change { $0.counters.uploads[number - 1].video = video }
    }

    func resultRequested(_ model: String) {
        change { $0.counters.results[model, default: .init()].requests += 1 }
    }

    func sent(_ bytes: Int, of model: String) {
        change { state in
            state.counters.resultBytesSent += bytes
            state.counters.results[model, default: .init()].bytes += bytes
        }
    }
}
