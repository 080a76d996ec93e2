import Synchronization

/// The streams that are told of something, each until its reader leaves it.
final class Hearers<Told: Sendable>: Sendable {
    private struct State {
        var streams: [Int: AsyncStream<Told>.Continuation] = [:]
        var made = 0
        var isEnded = false
    }

    private let state = Mutex(State())

    var isEmpty: Bool { state.withLock { $0.streams.isEmpty } }

    /// Adds a stream. When all have ended it is finished at once, and the answer is false.
    func add(_ stream: AsyncStream<Told>.Continuation) -> Bool {
        let id = state.withLock { state -> Int? in
            if state.isEnded { return nil }
            state.made += 1
            state.streams[state.made] = stream
            return state.made
        }
        guard let id else {
            stream.finish()
            return false
        }
        stream.onTermination = { [weak self] _ in self?.state.withLock { _ = $0.streams.removeValue(forKey: id) } }
        return true
    }

    func tell(_ told: Told) { for stream in state.withLock({ Array($0.streams.values) }) { stream.yield(told) } }

    /// Finishes all streams, and each that is added later.
    func end() {
        let streams = state.withLock { state in
            defer { (state.isEnded, state.streams) = (true, [:]) }
            return state.streams
        }
        for stream in streams.values { stream.finish() }
    }
}
