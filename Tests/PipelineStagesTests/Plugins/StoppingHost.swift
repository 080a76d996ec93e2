import JSONPath
import PipelineCore
import Synchronization

/// A host that says when something was committed, and can die, as far as the journal is concerned, at a commit.
final class StoppingHost: StageHost {
    private struct State {
        var commits = 0
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let inner: MemoryStageHost
    /// Commits beyond this number fail; nil for none.
    private let lastCommit: Int?
    private let state = Mutex(State())

    init(_ inner: MemoryStageHost, dyingAfter lastCommit: Int? = nil) {
        self.inner = inner
        self.lastCommit = lastCommit
    }

    /// Returns when a checkpoint has been committed.
    func committed() async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                if state.commits == 0 { state.waiters.append(continuation) }
                return state.commits > 0
            }
            if isThere { continuation.resume() }
        }
    }

    func commit(checkpoint: [UInt8], captures: JSONObject?, progressed: Bool) async throws(StageFailure) {
        if let lastCommit, state.withLock({ $0.commits >= lastCommit }) { throw .journal(.stale) }
        try await inner.commit(checkpoint: checkpoint, captures: captures, progressed: progressed)
        let waiters = state.withLock { state in
            state.commits += 1
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    var facts: StageFacts { inner.facts }
    var now: Timestamp { inner.now }
    func scope() async throws(StageFailure) -> Scope { try await inner.scope() }
    func obtain(_ fact: Fact) async throws(StageFailure) -> JSON { try await inner.obtain(fact) }
    func submitRecord() async -> SubmitRecord? { await inner.submitRecord() }
    func commit(submit: SubmitRecord, captures: JSONObject?) async throws(StageFailure) {
        try await inner.commit(submit: submit, captures: captures)
    }
    func commit(file: WrittenFile) async throws(StageFailure) { try await inner.commit(file: file) }
    func report(_ progress: StageProgress) { inner.report(progress) }
    var isOwner: Bool { true }

    func pass(_ point: CrashPoint) { inner.pass(point) }
    func digest(_ bytes: [UInt8]) -> String { inner.digest(bytes) }
    func redact(_ text: String) -> String { inner.redact(text) }
    func pushes() async -> Int { await inner.pushes() }
    func callbackCaptures() async -> JSONObject? { await inner.callbackCaptures() }
    func ended(at time: Timestamp) { inner.ended(at: time) }
    func measure(_ measured: Measurements) { inner.measure(measured) }
    var services: any ServiceGate { inner.services }
    func conclude(with response: JSON) { inner.conclude(with: response) }
    func noteServed() { inner.noteServed() }
    func warn(_ message: String) async throws(StageFailure) { try await inner.warn(message) }
    func count(_ moved: BytesMoved) { inner.count(moved) }
    func mustAct(before time: Timestamp?) { inner.mustAct(before: time) }
    func record(_ exchange: ExchangeRecord) { inner.record(exchange) }
    func authenticates() { inner.authenticates() }
    func conceal(_ secret: String, as name: String) { inner.conceal(secret, as: name) }
    func renewSecrets(since used: [String: String]) async -> Bool { await inner.renewSecrets(since: used) }
}
