public import JSONPath
public import PipelineCore
import PipelineEngine

/// The engine inside a program of one's own, over a journal that the program brings.
///
/// It does what `pipeline run` and `pipeline resume` do with one job, and knows the kinds, decorators and sinks that are built
/// in. What the journal has no part in is left out: the budget of background resumes, estimates from earlier jobs,
/// services that are closed for all jobs, batches. A value of it may be used by many tasks at once.
public struct JobRunner: Sendable {
    private let workspace: Workspace
    private let journal: any Journal
    private let owner: OwnerID
    private let engine: Engine

    /// A runner of jobs.
    ///
    /// - Parameters:
    ///   - journal: keeps the jobs.
    ///   - owner: the name under which this process owns jobs, which no other run of a program has at the same time.
    ///   - stateFolder: the folder of what stays on the machine: a key, exchanges, fetched inputs, cached responses. It is made
    ///     when it is not there.
    ///   - extend: adds kinds of stage, decorators and sinks.
    ///   - observe: told of every event of every job, after it was committed, and of progress; from any thread, and must return
    ///     at once.
    /// - Throws: a `JournalFailure` when the folder can't be used, a `StepFailure` for the file of secrets that
    ///   `PIPELINE_SECRETS_FILE` names.
    public init(
        journal: any Journal, owner: OwnerID, stateFolder: String,
        extend: @Sendable (inout Extensions) -> Void = { _ in },
        observe: @escaping @Sendable (JobEvent) -> Void = { _ in }
    ) throws {
        let environment = ProcessEnvironment.all
        let secretsFile = environment["PIPELINE_SECRETS_FILE"].flatMap { $0.isEmpty ? nil : $0 }
        workspace = Workspace(
            settings: Settings(stateFolder: stateFolder, secretsFile: secretsFile, environment: environment),
            extend: extend)
        self.journal = journal
        self.owner = owner
        engine = try workspace.engine(
            over: journal, owner: owner, secrets: try workspace.secrets(), observe: observe)
    }

    /// Starts a job of a pipeline file and stays with it until it has ended, or can't go on by itself.
    ///
    /// Cancelling the task suspends the job, as does a request of `.pause` in the journal; ``resume(_:secretInputs:)`` goes on.
    ///
    /// - Parameters:
    ///   - file: the path of the pipeline file.
    ///   - inputs: the values of its inputs by name, those of the kind `file` as paths.
    ///   - key: the job's own name; nil for its id.
    ///   - output: the folder that results are written to, relative to the working directory.
    ///   - overwrites: whether files that are there may be replaced.
    /// - Throws: a `StepFailure` for a mistake of the file or its inputs, before anything is kept;
    ///   `JournalFailure.keyTaken` when another job has the key, which then may be resumed; any other `JournalFailure` when the
    ///   journal failed: the job stands as it was committed last.
    public func run(
        _ file: String, inputs: JSONObject = [:], key: String? = nil, output: String = ".", overwrites: Bool = false
    ) async throws -> JobResult {
        if let key, !NameGrammar.jobKey.accepts(key) {
            throw StepFailure("'\(key)' is not a valid job key", hint: NameGrammar.jobKey.hint)
        }
        let draft = try await Self.withPlainFailures {
            try JobDraft(
                path: file, catalogue: await workspace.catalogue(for: try JobDraft.source(at: file)),
                given: GivenInputs(document: inputs), environment: workspace.settings.environment,
                standardInput: { nil })
        }
        let record = draft.record(
            id: workspace.newJobID(), key: key, started: SystemClock().now,
            outputFolder: AbsolutePath.of(output, in: AbsolutePath.workingDirectory), overwrites: overwrites)
        if let failure = await draft.preflight(to: record) { throw failure }
        return try await stay(
            with: try await engine.start(
                record, plan: draft.plan, mode: .attached, secretInputs: draft.secretInputs))
    }

    /// Goes on with a job that nobody owns, such as one whose process was killed, and stays with it as
    /// ``run(_:inputs:key:output:overwrites:)`` does. A job that has ended is left as it is.
    ///
    /// - Parameters:
    ///   - job: the job, as `Journal.jobs` lists it.
    ///   - secretInputs: the values of the document's secret inputs by name, which no journal keeps.
    /// - Throws: `JournalFailure.owned` while a process has it, also this one; `JournalFailure.noSuchJob`; a `StepFailure` when
    ///   a kind that its document names is not there; any other `JournalFailure` when the journal failed.
    public func resume(_ job: JobID, secretInputs: JSONObject = [:]) async throws -> JobResult {
        guard let snapshot = try await journal.snapshot(of: job) else { throw JournalFailure.noSuchJob(job) }
        if snapshot.ended != nil { return JobResult(snapshot) }
        let plan = try await Self.withPlainFailures { try await workspace.plan(of: snapshot.record) }
        let secretInputs = try await Self.withPlainFailures {
            try await SecretInputs(of: snapshot.record, in: plan)
                .values(known: secretInputs, secrets: try workspace.secrets())
        }
        return try await stay(
            with: try await engine.resume(job, plan: plan, mode: .attached, secretInputs: secretInputs))
    }

    /// Forgets a job that has ended, with its exchanges and the inputs that were fetched for it; files that it wrote stay.
    public func remove(_ job: JobID) async throws(JournalFailure) {
        try await workspace.remove(job, from: journal)
    }

    private func stay(with job: Engine.JobHandle) async throws -> JobResult {
        let requests = journal.requests(for: owner)
        // In a task of its own, so that a cancellation reaches the job as a suspension, and not its commits.
        let running = Task { try await job.run() }
        let end = try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { for await asked in requests where asked == job.job { job.checkInbox() } }
            defer { group.cancelAll() }
            return try await withTaskCancellationHandler {
                try await running.value
            } onCancel: {
                job.suspend(.interrupted)
            }
        }
        if end == .lost { throw JournalFailure.stale }
        guard let snapshot = try await journal.snapshot(of: job.job) else { throw JournalFailure.noSuchJob(job.job) }
        let result = JobResult(snapshot)
        // The program may end next.
        if result.phase != .succeeded { await workspace.finishTokens() }
        return result
    }

    /// The first mistake of a document or of inputs stands for all.
    private static func withPlainFailures<Value>(_ body: () async throws -> Value) async throws -> Value {
        do { return try await body() } catch let error as DefinitionError {
            guard let (mistake, position) = error.located.first else { throw error }
            throw StepFailure(
                mistake.message, hint: mistake.hint,
                place: "\(error.source.name):\(position.line):\(position.column)")
        } catch let error as InputsError {
            throw error.problems.first ?? StepFailure("the inputs are wrong")
        }
    }
}

/// The state in which a job came to rest.
public struct JobResult: Sendable {
    /// The job.
    public let job: JobID
    /// The phase in which it stands: succeeded, failed or cancelled; suspended, for a reason in ``cause``; or unknown, when a person must find
    /// out whether a service took a submit.
    public let phase: JobPhase
    /// The reason why it is suspended; nil in other phases.
    public let cause: SuspensionCause?
    /// The failure that made it fail; nil in other phases.
    public let failure: StepFailure?
    /// The files that it has written, in the order in which a person reads them.
    public let files: [WrittenFile]

    init(_ snapshot: JobSnapshot) {
        job = snapshot.id
        phase = snapshot.phase(isOwned: false)
        cause = snapshot.suspension(isOwned: false)
        failure = phase == .failed ? snapshot.failure?.failure : nil
        files = snapshot.orderedFiles
    }
}
