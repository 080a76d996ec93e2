import Synchronization

/// Counts what happens, as it happens. Kept in memory only: a restart begins at zero.
final class Statistics: Sendable {
    private let state = Mutex(State())

    private struct State {
        var counters = Counters()
        /// The number of the upload behind each path that the upload library gave out.
        var resumable: [String: Int] = [:]
    }

    var counters: Counters { state.withLock { $0.counters } }

    /// For counters that need no key.
    func count(_ counter: any WritableKeyPath<Counters, Int> & Sendable) {
        state.withLock { $0.counters[keyPath: counter] += 1 }
    }

    /// A request that makes a new upload has come.
    /// - Returns: the upload's number, from 1.
    func uploadCreated() -> Int {
        state.withLock { state in
            state.counters.uploadsCreated += 1
            let number = state.counters.uploadsCreated
            state.counters.uploads.append(.init(number: number, requests: 1))
            return number
        }
    }

    /// The upload can be continued at this path.
    func upload(_ number: Int, continuesAt path: String) {
        state.withLock { $0.resumable[path] = number }
    }

    /// A request that continues an upload has come.
    /// - Returns: the upload's number, or nil if none was ever given that path.
    func uploadContinued(at path: String) -> Int? {
        state.withLock { state in
            guard let number = state.resumable[path] else { return nil }
            state.counters.uploads[number - 1].requests += 1
            return number
        }
    }

    func received(_ bytes: Int, upload number: Int?) {
        state.withLock { state in
            state.counters.uploadBytesReceived += bytes
            if let number { state.counters.uploads[number - 1].bytes += bytes }
        }
    }

    func upload(_ number: Int, became video: String) {
        state.withLock { $0.counters.uploads[number - 1].video = video }
    }

    func resultRequested(_ model: String) {
        state.withLock { $0.counters.results[model, default: .init()].requests += 1 }
    }

    func sent(_ bytes: Int, of model: String) {
        state.withLock { state in
            state.counters.resultBytesSent += bytes
            state.counters.results[model, default: .init()].bytes += bytes
        }
    }
}
