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
        /// Reads the owner's jobs that have a request.
        var pending: @Sendable () -> [JobID] = { [] }
        var hasThread = false
    }

    let owner: OwnerID
    private let lock: FileLock
    private let socket: OwnerSocket
    private let folder: String
    /// Takes a wish to watch a job, or any.
    private let watch: @Sendable (OwnerID, JobID?) -> Void
    /// Takes that a person watches a job, or any; whether that is new.
    private let attend: @Sendable (OwnerID, JobID?) -> Bool
    /// The streams of jobs with a request, of what other owners show, and of who attends to this owner's jobs.
    private let requests = Hearers<JobID>()
    private let news = Hearers<JournalSignal>()
    private let attentions = Hearers<OwnerSignal>()
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
        guard requests.add(continuation), hear() else { return }
        // What was asked before anybody listened is found by one look at the rows.
        _ = OwnerSocket.send(OwnerMessage.inbox(nil).text, folder: folder, name: Self.socketName(owner))
    }

    /// Adds a stream of what other owners show.
    func listen(_ continuation: AsyncStream<JournalSignal>.Continuation) {
        if news.add(continuation) { hear() }
    }

    /// Adds a stream of who attends to this owner's jobs.
    func listen(_ continuation: AsyncStream<OwnerSignal>.Continuation) {
        if attentions.add(continuation) { hear() }
    }

    /// Ends listening and removes the names; the lock goes with the object.
    func end() {
        socket.shut()
        requests.end()
        news.end()
        attentions.end()
    }

    /// Begins to read the socket, once. Without a thread for it nothing can be heard: all ends, and the answer is false.
    @discardableResult
    private func hear() -> Bool {
        let isHearing = state.withLock { state in
            defer { state.hasThread = true }
            return state.hasThread
        }
        if isHearing { return true }
        let isStarted = JournalThread.start { [socket, weak self] in
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
        if !isStarted { end() }
        return isStarted
    }

    private func take(_ message: OwnerMessage) {
        switch message {
        case .inbox(let named):
            guard let named else { return }
            requests.tell(named)
        case .watch(let other, let job): watch(other, job)
        case .attend(let other, let job): if attend(other, job) { attentions.tell(.watched(job)) }
        case .delaysReset(let pipeline): attentions.tell(.delaysReset(pipeline: pipeline))
        case .changed(let job): news.tell(.changed(job))
        case .event(let event): news.tell(.event(event))
        }
    }

    /// The rows are the truth: a datagram that found no room in the queue is made up for by the next one.
    private func look() {
        if requests.isEmpty { return }
        for job in state.withLock({ $0.pending })() { requests.tell(job) }
    }

    static func lockName(_ owner: OwnerID) -> String { owner.text + ".lock" }
    static func socketName(_ owner: OwnerID) -> String { owner.text + ".sock" }
}
