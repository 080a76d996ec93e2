import JSONPath
import PipelineCore
import Synchronization

/// The engine's side of a stage's context in memory: a ledger, captures, a clock that moves by hand.
final class MemoryStageHost: StageHost {
    struct State {
        var now = Timestamp(milliseconds: 1_800_000_000_000)
        /// The id of the job and its key.
        var job = (id: "01job", key: "key1")
        var scope: Scope
        var record: SubmitRecord?
        /// The phases that the ledger went through, and what was committed with them.
        var phases: [SubmitRecord.Phase] = []
        var checkpoint: [UInt8]?
        var captures = JSONObject()
        var files: [WrittenFile] = []
        var points: [CrashPoint] = []
        var progress: [StageProgress] = []
        /// Bytes of bodies, as they were counted.
        var moved = BytesMoved()
        var deadline: Timestamp?
        var attempt = 1
        /// True until something has progressed.
        var hasFailed = false
        /// Until when what is renewed is good.
        var renewed: StepExpiry?
        /// The stage that gives fresh captures.
        var source: String?
        /// The polls that were counted, by their form.
        var polls: [String] = []
        var facts: [Fact: JSON] = [:]
        /// True if it is noted of each fact that is found out if a scope that was given is still alive.
        var watchesScopes = false
        /// What the last scope holds that was given.
        weak var scopeToken: ScopeToken?
        var sharings: [Bool] = []
        /// The callbacks that came, and what the last brought.
        var callbacks = CallbackCount()
        /// When the service said that the work ended.
        var ended: Timestamp?
        /// What was warned of.
        var warnings: [String] = []
        /// Commits fail with this from now on.
        var journalFailure: JournalFailure?
        /// The process dies after so many further commits.
        var commitsLeft: Int?
        /// The process dies, as far as the journal is concerned, when it passes this.
        var crashPoint: CrashPoint?
        /// What the sources of secrets say when they are asked again; nil for the same as before.
        var renewedSecrets: [String: String]?
        /// What was concealed since the start.
        var concealed: [String] = []
        /// What seals the secrets in a checkpoint; nil for nothing.
        var seal: (any SecretSeal)?
        /// The exchanges that were recorded, each as it was when it was.
        var exchanges: [ExchangeRecord] = []
        /// The gate of all services.
        var services: any ServiceGate = OpenServices()
        /// How many round trips for credentials there were.
        var authentications = 0
    }

    private let state: Mutex<State>
    private let step: StepKey
    private let retry: RetryPolicy
    private let redactor: Redactor
    private let folders: JobFolders
    let started = Timestamp(milliseconds: 1_800_000_000_000)

    init(
        stage: String, retry: RetryPolicy, inputs: JSONObject = [:], secrets: [String: String] = [:],
        stages: [String: JSON] = [:], folders: JobFolders = JobFolders(document: "/tmp", output: "/tmp")
    ) {
        step = StepKey(stage: stage)
        self.retry = retry
        self.folders = folders
        redactor = Redactor(secrets)
        let scope = Scope(
            inputs: inputs, secrets: secrets, stages: stages,
            job: Scope.Job(id: "01job", key: "key1", started: Timestamp(milliseconds: 0)), baseFolder: folders.document)
        state = Mutex(State(scope: scope))
    }

    /// Reads or changes what a test wants to see.
    @discardableResult func read<Value: Sendable>(_ body: (inout State) -> Value) -> Value {
        state.withLock { state in body(&state) }
    }

    var facts: StageFacts {
        let job = state.withLock(\.job)
        return StageFacts(
            job: JobID(job.id), submitName: SubmitName(jobKey: job.key, step: step), pipeline: "test",
            attempt: state.withLock(\.attempt),
            hasFailed: state.withLock(\.hasFailed), freshness: state.withLock { Freshness($0.renewed, of: $0.source) },
            started: started, deadline: state.withLock(\.deadline),
            folders: folders, overwrites: false, retry: retry, place: "test.json:1:1")
    }

    var now: Timestamp { state.withLock(\.now) }

    func scope() async throws(StageFailure) -> Scope {
        state.withLock { state in
            var scope = state.scope
            scope.own = state.captures
            scope.ownKey = state.record?.key ?? SubmitName(jobKey: state.job.key, step: step).key(ofGeneration: 1)
            scope.facts = KnownFacts(state.facts)
            if state.watchesScopes {
                let token = ScopeToken()
                state.scopeToken = token
                scope.partDigest = { _ in token.text }
            }
            return scope
        }
    }

    func pushes() async -> Int { state.withLock(\.callbacks.all) }

    func callbackCaptures() async -> JSONObject? { state.withLock(\.callbacks.captures) }

    func ended(at time: Timestamp) { state.withLock { $0.ended = time } }

    func warn(_ message: String) async throws(StageFailure) { state.withLock { $0.warnings.append(message) } }

    func obtain(_ fact: Fact) async throws(StageFailure) -> JSON {
        let value: JSON = "fact"
        state.withLock { state in
            state.sharings.append(state.scopeToken != nil)
            state.facts[fact] = value
        }
        return value
    }

    func commit(checkpoint: [UInt8], captures: JSONObject?, progressed: Bool) async throws(StageFailure) {
        try change { state in
            state.checkpoint = checkpoint
            if progressed { state.hasFailed = false }
            for member in captures ?? [:] { state.captures[member.name] = member.value }
        }
    }

    func submitRecord() async -> SubmitRecord? { state.withLock(\.record) }

    func commit(submit: SubmitRecord, captures: JSONObject?) async throws(StageFailure) {
        try change { state in
            state.record = submit
            state.phases.append(submit.phase)
            for member in captures ?? [:] { state.captures[member.name] = member.value }
        }
    }

    func commit(file: WrittenFile) async throws(StageFailure) { try change { $0.files.append(file) } }

    func written(at path: String) async -> WrittenFile? { state.withLock { $0.files.last { $0.path == path } } }

    private func change(_ change: (inout State) -> Void) throws(StageFailure) {
        let failure = state.withLock { state in
            if state.commitsLeft == 0 { state.journalFailure = .stale }
            state.commitsLeft = state.commitsLeft.map { $0 - 1 }
            if state.journalFailure == nil { change(&state) }
            return state.journalFailure
        }
        if let failure { throw .journal(failure) }
    }

    func report(_ progress: StageProgress) { state.withLock { $0.progress.append(progress) } }

    func measure(_ measured: Measurements) {
        let forms = measured.sums.keys.filter { $0.metric == .polls }.map { $0.labels.last ?? "" }
        state.withLock { $0.polls += forms }
    }
    var services: any ServiceGate { state.withLock(\.services) }
    func conclude(with response: JSON) {}
    func noteServed() {}
    func mustAct(before time: Timestamp?) {}

    func count(_ moved: BytesMoved) { state.withLock { $0.moved = $0.moved + moved } }

    var isOwner: Bool { true }

    func pass(_ point: CrashPoint) {
        state.withLock { state in
            state.points.append(point)
            if state.crashPoint == point { state.journalFailure = .stale }
        }
    }

    func digest(_ bytes: [UInt8]) -> String {
        "\(bytes.reduce(UInt64(14_695_981_039_346_656_037)) { ($0 ^ UInt64($1)) &* 1_099_511_628_211 })"
    }

    func redact(_ text: String) -> String {
        state.withLock(\.concealed).reduce(into: redactor) { $0.add([("concealed", $1)]) }.redact(text)
    }

    func sealed(_ text: String) async -> String { sealing?.sealed(.string(text)).string ?? text }

    func opened(_ text: String) async -> String { sealing?.opened(.string(text)).string ?? text }

    private var sealing: CaptureSealing? {
        state.withLock { state in
            state.seal.map { seal in
                CaptureSealing(state.scope.secrets.map { (name: $0.key, value: $0.value) }, seal: seal)
            }
        }
    }

    func conceal(_ secret: String, as name: String) { state.withLock { $0.concealed.append(secret) } }

    func record(_ exchange: ExchangeRecord) { state.withLock { $0.exchanges.append(exchange) } }

    func authenticates() { state.withLock { $0.authentications += 1 } }

    func renewSecrets(since used: [String: String]) async -> Bool {
        state.withLock { state in
            state.scope.secrets = state.renewedSecrets ?? state.scope.secrets
            return state.scope.secrets != used
        }
    }
}

/// Lives as long as a scope that holds it.
final class ScopeToken: Sendable {
    let text = ""
}
