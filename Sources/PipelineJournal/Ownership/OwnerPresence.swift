import PipelineCore
import Synchronization

/// An owner of this process while it lives: its lock, its socket, its jobs, and who listens for requests or for news of
/// jobs that other processes own.
///
/// The lock goes with the object; the kernel lets it go when the process ends.
final class OwnerPresence: Sendable {
    private struct State {
        /// True if jobs that an earlier process owned under the same name were let go.
        var isCleared = false
        var jobs: Set<JobID> = []
        var listeners: [Int: AsyncStream<JobID>.Continuation] = [:]
        var readers: [Int: AsyncStream<JournalSignal>.Continuation] = [:]
        var hearers: [Int: AsyncStream<OwnerSignal>.Continuation] = [:]
        /// Reads the owner's jobs that have a request.
        var pending: @Sendable () -> [JobID] = { [] }
        var listenersMade = 0
        var hasThread = false
        var isEnded = false
    }

    let owner: OwnerID
    private let lock: FileLock
    private let socket: OwnerSocket
    private let folder: String
    /// Takes a wish to watch a job, or any.
    private let watch: @Sendable (OwnerID, JobID?) -> Void
    /// Takes that a person watches a job, or any; whether that is new.
    private let attend: @Sendable (OwnerID, JobID?) -> Bool
    private let state = Mutex(State())

    init(
        _ owner: OwnerID, lock: consuming FileLock, socket: OwnerSocket, folder: String,
        watch: @escaping @Sendable (OwnerID, JobID?) -> Void,
        attend: @escaping @Sendable (OwnerID, JobID?) -> Bool
    ) {
        self.owner = owner
        self.lock = lock
        self.socket = socket
        self.folder = folder
        self.watch = watch
        self.attend = attend
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
        state.withLock { $0.pending = pending }
        guard add(continuation, to: \.listeners) else { return }
        // What was asked before anybody listened is found by one look at the rows.
        _ = OwnerSocket.send(OwnerMessage.inbox(nil).text, folder: folder, name: Self.socketName(owner))
    }

    /// Adds a reader of what other owners show.
    func listen(_ continuation: AsyncStream<JournalSignal>.Continuation) { _ = add(continuation, to: \.readers) }

    /// Adds a hearer of who attends to this owner's jobs.
    func listen(_ continuation: AsyncStream<OwnerSignal>.Continuation) { _ = add(continuation, to: \.hearers) }

    /// Adds one of those that are told of something until they end, and begins to read the socket; false when nothing can
    /// be heard.
    private func add<Told: Sendable>(
        _ continuation: AsyncStream<Told>.Continuation,
        to group: any WritableKeyPath<State, [Int: AsyncStream<Told>.Continuation]> & Sendable
    ) -> Bool {
        let id = state.withLock { state -> Int? in
            if state.isEnded { return nil }
            state.listenersMade += 1
            state[keyPath: group][state.listenersMade] = continuation
            return state.listenersMade
        }
        guard let id else {
            continuation.finish()
            return false
        }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { _ = $0[keyPath: group].removeValue(forKey: id) }
        }
        if hear() { return true }
        end()
        return false
    }

    /// Ends listening and removes the names; the lock goes with the object.
    func end() {
        let ended = state.withLock { state in
            defer { (state.isEnded, state.listeners, state.readers, state.hearers) = (true, [:], [:], [:]) }
            return state
        }
        socket.shut()
        for listener in ended.listeners.values { listener.finish() }
        for reader in ended.readers.values { reader.finish() }
        for hearer in ended.hearers.values { hearer.finish() }
    }

    /// Begins to read the socket, once; false when there is no thread for it.
    private func hear() -> Bool {
        let isHearing = state.withLock { state in
            defer { state.hasThread = true }
            return state.hasThread
        }
        if isHearing { return true }
        return JournalThread.start { [socket, weak self] in
            var isAsked = false
            while let text = socket.receive() {
                let message = OwnerMessage(text)
                self?.take(message)
                if case .inbox = message { isAsked = true }
                // One look at the rows does for all that came together.
                if isAsked, !socket.hasMore {
                    isAsked = false
                    self?.look()
                }
            }
        }
    }

    private func take(_ message: OwnerMessage) {
        switch message {
        case .inbox(let named):
            guard let named else { return }
            for listener in state.withLock({ Array($0.listeners.values) }) { listener.yield(named) }
        case .watch(let other, let job): watch(other, job)
        case .attend(let other, let job): if attend(other, job) { tell(OwnerSignal.watched(job)) }
        case .delaysReset(let pipeline): tell(OwnerSignal.delaysReset(pipeline: pipeline))
        case .changed(let job): tell(.changed(job))
        case .event(let event): tell(.event(event))
        }
    }

    /// The rows are the truth: a datagram that found no room in the queue is made up for by the next one.
    private func look() {
        let (pending, listeners) = state.withLock { ($0.pending, Array($0.listeners.values)) }
        if listeners.isEmpty { return }
        for job in pending() {
            for listener in listeners { listener.yield(job) }
        }
    }

    private func tell(_ news: JournalSignal) {
        let readers = state.withLock { Array($0.readers.values) }
        for reader in readers { reader.yield(news) }
    }

    private func tell(_ attention: OwnerSignal) {
        let hearers = state.withLock { Array($0.hearers.values) }
        for hearer in hearers { hearer.yield(attention) }
    }

    static func lockName(_ owner: OwnerID) -> String { owner.text + ".lock" }
    static func socketName(_ owner: OwnerID) -> String { owner.text + ".sock" }
}
