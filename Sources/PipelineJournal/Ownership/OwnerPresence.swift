import PipelineCore
import Synchronization

/// An owner of this process while it lives: its lock, its socket, its jobs and who listens for requests.
///
/// The lock goes with the object; the kernel lets it go when the process ends.
final class OwnerPresence: Sendable {
    private struct State {
        /// Whether jobs that an earlier process owned under the same name were let go.
        var isCleared = false
        var jobs: Set<JobID> = []
        var listeners: [Int: AsyncStream<JobID>.Continuation] = [:]
        var listenersMade = 0
        var hasThread = false
        var isEnded = false
    }

    let owner: OwnerID
    private let lock: FileLock
    private let socket: OwnerSocket
    private let folder: String
    private let state = Mutex(State())

    init(_ owner: OwnerID, lock: consuming FileLock, socket: OwnerSocket, folder: String) {
        self.owner = owner
        self.lock = lock
        self.socket = socket
        self.folder = folder
    }

    var isCleared: Bool { state.withLock { $0.isCleared } }
    func markCleared() { state.withLock { $0.isCleared = true } }

    var hasJobs: Bool { state.withLock { !$0.jobs.isEmpty } }
    func add(_ job: JobID) { state.withLock { _ = $0.jobs.insert(job) } }
    func remove(_ job: JobID) { state.withLock { _ = $0.jobs.remove(job) } }
    func has(_ job: JobID) -> Bool { state.withLock { $0.jobs.contains(job) } }
    /// Forgets the jobs that others took while this process was stopped.
    func keepOnly(_ jobs: Set<JobID>) { state.withLock { $0.jobs.formIntersection(jobs) } }

    /// Adds a listener; `pending` reads the owner's jobs that have a request, on the listening thread.
    func listen(
        _ continuation: AsyncStream<JobID>.Continuation, pending: @escaping @Sendable () -> [JobID]
    ) {
        let (id, needsThread) = state.withLock { state -> (Int?, Bool) in
            if state.isEnded { return (nil, false) }
            state.listenersMade += 1
            state.listeners[state.listenersMade] = continuation
            defer { state.hasThread = true }
            return (state.listenersMade, !state.hasThread)
        }
        guard let id else { return continuation.finish() }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { _ = $0.listeners.removeValue(forKey: id) }
        }
        if needsThread, !startThread(pending) { return end() }
        // What was asked before anybody listened is found by one look at the rows.
        _ = OwnerSocket.send(" ", folder: folder, name: Self.socketName(owner))
    }

    /// Ends listening and removes the names; the lock goes with the object.
    func end() {
        let listeners = state.withLock { state in
            state.isEnded = true
            defer { state.listeners = [:] }
            return Array(state.listeners.values)
        }
        socket.shut()
        for listener in listeners { listener.finish() }
    }

    private func startThread(_ pending: @escaping @Sendable () -> [JobID]) -> Bool {
        JournalThread.start { [socket, weak self] in
            while let text = socket.receive() {
                // The rows are the truth: a datagram that found no room in the queue is made up for by the next one.
                var jobs = pending()
                let named = JobID(text)
                if text != " ", !jobs.contains(named) { jobs.append(named) }
                self?.tell(jobs)
            }
        }
    }

    private func tell(_ jobs: [JobID]) {
        let listeners = state.withLock { Array($0.listeners.values) }
        for listener in listeners {
            for job in jobs { listener.yield(job) }
        }
    }

    static func lockName(_ owner: OwnerID) -> String { owner.text + ".lock" }
    static func socketName(_ owner: OwnerID) -> String { owner.text + ".sock" }
}
