package import JSONPath

/// The services of the engine to a running stage, without the type of its checkpoint: ``StageContext`` is its face.
package protocol StageHost: Sendable {
    /// The facts of the step that are fixed for this call.
    var facts: StageFacts { get }
    /// The time of day at which the call began and what has passed since: a clock that is set meanwhile moves nothing that
    /// is measured by it.
    var now: Timestamp { get }
    /// All values that an expression of the step may read at this moment, secrets included.
    func scope() async throws(StageFailure) -> Scope
    /// Finds out a fact, keeps it, and never again.
    func obtain(_ fact: Fact) async throws(StageFailure) -> JSON
    /// Keeps checkpoint and captures; returns when they are durable. With `progressed` earlier failures are forgotten.
    func commit(checkpoint: [UInt8], captures: JSONObject?, progressed: Bool) async throws(StageFailure)
    /// Returns the same, durable with the next commit, at the latest with the step's end: for what nothing rests on
    /// before.
    func stage(checkpoint: [UInt8]) async throws(StageFailure)
    /// The step's entry in the submit ledger; nil before the first intent.
    func submitRecord() async -> SubmitRecord?
    /// Keeps the entry, and captures with it in one transaction; returns when they are durable.
    func commit(submit: SubmitRecord, captures: JSONObject?) async throws(StageFailure)
    /// Keeps the entry with the next commit, at the latest with the step's end: for one that nothing was sent for.
    func stage(submit: SubmitRecord) async throws(StageFailure)
    /// Keeps that a file has its final name; durable with the next commit, at the latest with the step's end.
    func commit(file: WrittenFile) async throws(StageFailure)
    /// Returns the same of many, together.
    func commit(files: [WrittenFile]) async throws(StageFailure)
    /// The file that this step of the job has written at a path, also when it ran before; nil for none.
    func written(at path: String) async -> WrittenFile?
    /// What expressions of the job have said of a file when it was in another state than the one of that fingerprint, and
    /// what is not so any more.
    func facts(ofFileAt path: String, otherThan fingerprint: String) async -> [Fact: JSON]
    /// Throws where the job has written the file and another one stands there by now.
    func checkWritten(_ path: String) async throws(StageFailure)
    /// Keeps, with the next commit, which files are about to be sent: the fingerprints of their states by path.
    func sends(_ files: [String: String]) async throws(StageFailure)
    /// Takes a path for the step's result, just before this gets its name there. Quick, from any thread.
    ///
    /// - Parameter isFolder: whether the result is a folder, which is there for all that is written in it.
    /// - Returns: the other step of the job that has written there: its result is not to be replaced. Nil for none.
    func claim(_ path: String, isFolder: Bool) -> StepKey?
    /// What tells the item of a batch that the job is for from those of all batches; nil for a job of its own.
    var itemLabel: String? { get }
    /// Takes a path for the item of a batch that the job is for; durable when it returns.
    ///
    /// - Parameters:
    ///   - path: the one path of the file, whatever links lead there.
    ///   - isFolder: whether the result is a folder, which is there for all that is written in it.
    /// - Returns: the key of the other item of the batch whose file it is, which is not to be replaced. Nil for none,
    ///   and in a job of its own.
    func claimForItem(_ path: String, isFolder: Bool) async throws(StageFailure) -> String?
    /// Warns of something that is likely a mistake, as `stage.warned`; the step goes on.
    func warn(_ message: String) async throws(StageFailure)
    /// Returns how many pushes came for the step since it was begun.
    func pushes() async -> Int
    /// The values that the last callback for the step brought; nil for none.
    func callbackCaptures() async -> JSONObject?
    /// Records when the service says that the step's work there ended; kept with the step's end. Quick, from any
    /// thread.
    func ended(at time: Timestamp)
    /// Tells observers how far a transfer or a remote job is; lossy, never waits.
    func report(_ progress: StageProgress)
    /// Counts body bytes that went over the network; kept with the step's next change. Quick, from any thread.
    func count(_ moved: BytesMoved)
    /// Adds to the counters, with the job's next commit. Quick, from any thread.
    func measure(_ measured: Measurements)
    /// Until when the service keeps what the step has there, kept with the step's next change; nil when nothing is known to
    /// expire. Quick, from any thread.
    func mustAct(before time: Timestamp?)
    /// True if the job is still this process's, as far as the clock alone tells: asked just before something goes out
    /// that must not go out twice. Quick, from any thread.
    var isOwner: Bool { get }
    /// Keeps an exchange for people, redacted by who made it; lossy.
    func record(_ exchange: ExchangeRecord)
    /// The gate that knows whether services take requests now.
    var services: any ServiceGate { get }
    /// Keeps the response that ends the step for what is judged at its end. Quick, from any thread.
    func conclude(with response: JSON)
    /// Notes that the service has done what the stage asked for: it costs what it costs even where nothing of its response can
    /// be used. Quick, from any thread.
    func noteServed()
    /// Marks a point for crash tests; returns unless the process is to die there.
    func pass(_ point: CrashPoint)
    /// A keyed hash of what a submit sends, in hex: tells whether it changed without giving it away.
    func digest(_ bytes: [UInt8]) -> String
    /// Replaces the secrets in a text by their names.
    func redact(_ text: String) -> String
    /// Seals what repeats a secret of the job in a text, as in captured values.
    func sealed(_ text: String) async -> String
    /// Opens what was sealed in a text, as far as the secrets are known.
    func opened(_ text: String) async -> String
    /// From now on the text is a secret too, shown under the name: a token that a service gave.
    func conceal(_ secret: String, as name: String)
    /// An exchange of the stage needs a round trip of its own for credentials. From any thread.
    func authenticates()
    /// Looks the secrets of the job up again; true when one is another than in those that were used.
    func renewSecrets(since used: [String: String]) async -> Bool
}

extension StageHost {
    package func stage(checkpoint: [UInt8]) async throws(StageFailure) {
        try await commit(checkpoint: checkpoint, captures: nil, progressed: false)
    }

    package func stage(submit: SubmitRecord) async throws(StageFailure) {
        try await commit(submit: submit, captures: nil)
    }

    package func written(at path: String) async -> WrittenFile? { nil }

    package func facts(ofFileAt path: String, otherThan fingerprint: String) async -> [Fact: JSON] { [:] }

    package func checkWritten(_ path: String) async throws(StageFailure) {}

    package func sends(_ files: [String: String]) async throws(StageFailure) {}

    package func claim(_ path: String, isFolder: Bool) -> StepKey? { nil }

    package var itemLabel: String? { nil }

    package func claimForItem(_ path: String, isFolder: Bool) async throws(StageFailure) -> String? { nil }

    package func sealed(_ text: String) async -> String { text }

    package func opened(_ text: String) async -> String { text }

    package func commit(files: [WrittenFile]) async throws(StageFailure) {
        for file in files { try await commit(file: file) }
    }
}

/// The facts of a step that are fixed while a stage is called.
public struct StageFacts: Sendable {
    /// The job that the step belongs to.
    public let job: JobID
    /// What the keys of its submits are made from.
    package let submitName: SubmitName
    /// The pipeline's name.
    public let pipeline: String
    /// The number of the try.
    public let attempt: Int
    /// True if something failed since the last progress, or fresh captures were asked for: progress makes that forgotten.
    package let hasFailed: Bool
    package let freshness: Freshness
    /// The time when the step first started.
    public let started: Timestamp
    /// The time when its deadline passes; nil for none.
    public let deadline: Timestamp?
    /// The folders that paths are relative to.
    public let folders: JobFolders
    /// True if existing files may be replaced.
    public let overwrites: Bool
    package let retry: RetryPolicy
    /// Makes what is known of the stage's duration; called where a wait is chosen by it.
    package let outlook: @Sendable () -> StageOutlook
    /// True if a person waits for the job.
    public let isAttended: Bool
    /// The place where a mistake in the document can be pointed to: `FILE:LINE:COLUMN` of the stage.
    public let place: String
    /// The captures of the stage that some expression of the document reads; nil for a name that is computed.
    package let namesRead: Set<String?>
    /// True if the response that ends the stage is read once it has ended.
    package let keepsResponse: Bool

    package init(
        job: JobID, submitName: SubmitName, pipeline: String, attempt: Int, hasFailed: Bool = false,
        freshness: Freshness = Freshness(), started: Timestamp, deadline: Timestamp?,
        folders: JobFolders, overwrites: Bool, retry: RetryPolicy,
        outlook: @escaping @Sendable () -> StageOutlook = { .unknown },
        isAttended: Bool = false, place: String, namesRead: Set<String?> = [], keepsResponse: Bool = false
    ) {
        self.job = job
        self.submitName = submitName
        self.pipeline = pipeline
        self.attempt = attempt
        self.hasFailed = hasFailed
        self.freshness = freshness
        self.started = started
        self.deadline = deadline
        self.folders = folders
        self.overwrites = overwrites
        self.retry = retry
        self.outlook = outlook
        self.isAttended = isAttended
        self.place = place
        self.namesRead = namesRead
        self.keepsResponse = keepsResponse
    }

    /// The job's key, the same over retries and restarts.
    public var jobKey: String { submitName.jobKey }
    /// The stage, and the item of it if there are many.
    public var step: StepKey { submitName.step }

    /// The command that begins the stage again, and what follows it, as if it had never run.
    package var restartCommand: String { "pipeline retry \(job) --from \(step.stage)" }

    /// The command that goes on with the job and replaces files that are not its own.
    package var overwritingCommand: String { "pipeline resume \(job) --overwrite" }

    /// Returns whether anybody reads that capture, as far as the document's text tells.
    public func isRead(_ capture: String) -> Bool { namesRead.contains(capture) || namesRead.contains(nil) }
}

/// The time for which what a stage reads, and has renewed by `renew`, is good.
package struct Freshness: Sendable, Hashable {
    /// Until when it is good, and whose it is; nil where nothing says.
    package var expiry: StepExpiry?
    package var urgency: Urgency
    /// The stage that gives fresh ones; nil where nothing is renewed.
    package var source: String?

    package init(_ expiry: StepExpiry? = nil, of source: String? = nil, urgency: Urgency = .usual) {
        self.expiry = expiry
        self.source = source
        self.urgency = urgency
    }
}

/// Body bytes that went over the network.
public struct BytesMoved: Sendable, Hashable {
    /// Bytes that were sent.
    public var sent: Int64
    /// Bytes that were received.
    public var received: Int64

    /// Bytes of bodies, without headers and what TLS adds.
    public init(sent: Int64 = 0, received: Int64 = 0) {
        self.sent = sent
        self.received = received
    }

    public static func + (left: BytesMoved, right: BytesMoved) -> BytesMoved {
        BytesMoved(sent: left.sent + right.sent, received: left.received + right.received)
    }
}

/// The progress of a step.
public enum StageProgress: Sendable, Hashable {
    /// Bytes of a transfer, of the whole file where known.
    case transfer(sent: Int64, received: Int64, total: Int64?)
    /// The progress that the service reports of its job: a share from 0 to 1 and seconds left, where known, and when the
    /// job began, by our clock; nil for when the step did.
    case remote(share: Double?, secondsLeft: Double?, since: Timestamp? = nil)
}

/// The named points at which a crash test kills the process; the names are a contract.
package enum CrashPoint: String, Sendable, Hashable, CaseIterable {
    case uploadCreated = "upload.created", uploadPart = "upload.part", uploadSent = "upload.sent"
    case submitIntent = "submit.intent", submitSending = "submit.sending", submitSent = "submit.sent"
    case submitAnswered = "submit.answered", submitCommitted = "submit.committed"
    case pollAnswered = "poll.answered"
    case downloadPart = "download.part", downloadVerified = "download.verified", downloadRenamed = "download.renamed"
}
