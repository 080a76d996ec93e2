import JSONPath
import PipelineCore
import Synchronization

/// The engine's side of a transfer's context in memory, with the real time and a journal that can die.
final class TransferHost: StageHost {
    struct State {
        var checkpoint: [UInt8]?
        var captures = JSONObject()
        var files: [WrittenFile] = []
        var warnings: [String] = []
        var points: [CrashPoint] = []
        var job = "01job"
        var moved = BytesMoved()
        /// Commits that came further than any before.
        var progressed = 0
        var commits = 0
        /// Until when the service keeps what is there, as of the last commit.
        var mustActBefore: Timestamp?
        /// The same, not yet kept.
        var notedLimit: Timestamp??
        var progress: [StageProgress] = []
        var record: SubmitRecord?
        /// The process dies, as far as the journal is concerned, when it passes this for the n-th time.
        var crash: (point: CrashPoint, count: Int)?
        var isDead = false
        /// The stage that gives fresh captures.
        var source: String?
        var overwrites = false
        /// The other steps that have written files.
        var writers: [String: StepKey] = [:]
        /// What tells the item of a batch that the job is for from others, and whose the files of the others are.
        var itemLabel: String?
        var items: [String: String] = [:]
        var isOwner = true
        var hasNewSecrets = false
        var item: JSON?
        /// The texts that are secret, with their names.
        var hidden: [String: String] = [:]
        /// The captures that somebody reads: most tests ask for the digest, to know the file by it.
        var namesRead: Set<String?> = ["sha256"]
    }

    let state: Mutex<State>
    private let scopeValue: Scope
    private let folders: JobFolders
    private let retry: RetryPolicy
    /// Called after each point was passed.
    private let onPass: @Sendable (CrashPoint, Int) -> Void

    init(
        _ state: State, folders: JobFolders, inputs: JSONObject, stages: [String: JSON], retry: RetryPolicy,
        onPass: @escaping @Sendable (CrashPoint, Int) -> Void
    ) {
        self.state = Mutex(state)
        self.folders = folders
        self.retry = retry
        self.onPass = onPass
        scopeValue = Scope(
            inputs: inputs, stages: stages, job: Scope.Job(id: "01job", key: "key1", started: .epoch),
            baseFolder: folders.document)
    }

    var facts: StageFacts {
        StageFacts(
            job: JobID(state.withLock(\.job)), submitName: SubmitName(jobKey: "key1", step: StepKey(stage: "move")),
            pipeline: "test", attempt: 1, freshness: Freshness(of: state.withLock(\.source)),
            started: .epoch, deadline: nil, folders: folders, overwrites: state.withLock(\.overwrites), retry: retry,
            place: "test.json:1:1",
            namesRead: state.withLock(\.namesRead))
    }

    var now: Timestamp {
        let time = ContinuousClock.now - TransferHost.origin
        return Timestamp(milliseconds: Int64(time / .milliseconds(1)))
    }

    private static let origin = ContinuousClock.now

    func scope() async throws(StageFailure) -> Scope {
        var scope = scopeValue
        scope.own = state.withLock(\.captures)
        scope.ownKey = "own-key"
        scope.item = state.withLock(\.item)
        return scope
    }

    func obtain(_ fact: Fact) async throws(StageFailure) -> JSON { "fact" }

    func commit(checkpoint: [UInt8], captures: JSONObject?, progressed: Bool) async throws(StageFailure) {
        try change { state in
            state.commits += 1
            if let noted = state.notedLimit.take() { state.mustActBefore = noted }
            state.checkpoint = checkpoint
            if progressed { state.progressed += 1 }
            for member in captures ?? [:] { state.captures[member.name] = member.value }
        }
    }

    func mustAct(before time: Timestamp?) { state.withLock { $0.notedLimit = .some(time) } }

    func submitRecord() async -> SubmitRecord? { state.withLock(\.record) }

    func commit(submit: SubmitRecord, captures: JSONObject?) async throws(StageFailure) {
        try change { state in
            state.record = submit
            for member in captures ?? [:] { state.captures[member.name] = member.value }
        }
    }

    func commit(file: WrittenFile) async throws(StageFailure) { try change { $0.files.append(file) } }

    private func change(_ change: (inout State) -> Void) throws(StageFailure) {
        let isDead = state.withLock { state in
            if !state.isDead { change(&state) }
            return state.isDead
        }
        if isDead { throw .journal(.stale) }
    }

    func count(_ moved: BytesMoved) { state.withLock { $0.moved = $0.moved + moved } }

    func report(_ progress: StageProgress) { state.withLock { $0.progress.append(progress) } }

    var isOwner: Bool { state.withLock(\.isOwner) }

    func pass(_ point: CrashPoint) {
        let count = state.withLock { state in
            guard !state.isDead else { return 0 }
            state.points.append(point)
            let count = state.points.count { $0 == point }
            if let crash = state.crash, crash.point == point, crash.count == count { state.isDead = true }
            return count
        }
        if count > 0 { onPass(point, count) }
    }

    func digest(_ bytes: [UInt8]) -> String { "digest of \(bytes.count): \(String(decoding: bytes, as: UTF8.self))" }
    func claim(_ path: String, isFolder: Bool) -> StepKey? {
        state.withLock { state in
            state.writers.first { $0.key == path || isFolder && $0.key.hasPrefix(path + "/") }?.value
        }
    }
    var itemLabel: String? { state.withLock(\.itemLabel) }
    func claimForItem(_ path: String, isFolder: Bool) async throws(StageFailure) -> String? {
        state.withLock { $0.items[path] }
    }
    func redact(_ text: String) -> String { state.withLock { $0.hidden[text].map { "‹secret:\($0)›" } ?? text } }
    func pushes() async -> Int { 0 }
    func callbackCaptures() async -> JSONObject? { nil }
    func ended(at time: Timestamp) {}
    func measure(_ measured: Measurements) {}
    var services: any ServiceGate { OpenServices() }
    func conclude(with response: JSON) {}
    func noteServed() {}
    func warn(_ message: String) async throws(StageFailure) { try change { $0.warnings.append(message) } }
    func record(_ exchange: ExchangeRecord) {}
    func authenticates() {}
    func conceal(_ secret: String, as name: String) {}
    func renewSecrets(since used: [String: String]) async -> Bool { state.withLock(\.hasNewSecrets) }
}
