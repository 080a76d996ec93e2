import JSONPath
import PipelineCore
import PipelineEngine
import PipelineKit
import Synchronization

/// One job that a command stays with: shows its events, stops it on a signal, and says how it ended.
final class JobSession {
    struct Options {
        /// Events as JSON Lines on standard output instead of a view for people.
        let isJSON: Bool
        let isPlain: Bool
        let overwrites: Bool
        /// The answer to whether a person waits for the command.
        var interactivity = Interactivity.attended
        var mode = JobMode.attached
        /// 1 shows each request with its status, 2 headers too.
        var verbosity = 0
    }

    let workspace: Workspace
    let journal: Workspace.Journal
    let console: Console
    let options: Options
    /// True if a signal ended it.
    var wasStopped = false

    init(_ workspace: Workspace, _ journal: Workspace.Journal, _ console: Console, options: Options) {
        self.workspace = workspace
        self.journal = journal
        self.console = console
        self.options = options
    }

    /// Fails before anything is sent when a secret that a job of the plan needs is nowhere.
    func checkSecrets(of plan: Plan, for record: JobRecord) async throws {
        if let missing = try await workspace.missingSecret(of: plan, for: record) { throw missing }
    }

    private var reporter: EndReporter { EndReporter(workspace: workspace, journal: journal, isJSON: options.isJSON) }

    /// Tells how a run of the job ended.
    func report(
        _ end: JobEnd, of job: JobID, _ plan: Plan, secretInputs: JSONObject = [:]
    ) async throws -> ExitStatus {
        guard let snapshot = try await journal.snapshot(of: job) else { return .failed }
        return try await reporter.report(end, of: snapshot, plan, secretInputs: secretInputs).show(on: console)
    }

    /// Tells what is known of a job that ended before.
    func showEnd(of job: OwnedJob) async throws -> ExitStatus {
        try await reporter.earlierEnd(of: job.snapshot).show(on: console)
    }

    /// Tells how an ended job ended: its files, or its failure.
    func summarize(_ job: JobSnapshot) -> ExitStatus { reporter.rest(of: job).show(on: console) }

    /// Tells what is unknown, and what to type.
    func refuseUnknown(_ job: JobSnapshot) async throws -> ExitStatus {
        try await reporter.unknown(job).show(on: console)
    }

    /// Takes an existing job up and stays with it.
    func resume(
        _ job: OwnedJob, plan: Plan, secretInputs: JSONObject, again: RestartScope
    ) async throws -> ExitStatus {
        let id = job.snapshot.record.id
        try await job.checkMachine(in: journal, again: again)
        ChangeNote.all(of: job.snapshot, begunAnew: again.begunAnew(in: plan)).forEach { $0.show(on: console) }
        return try await drive(job: id, plan: plan, secretInputs: secretInputs, goesOn: true) {
            [options] engine throws(JournalFailure) in
            try await engine.resume(
                id, plan: plan, mode: options.mode, interactivity: options.interactivity, secretInputs: secretInputs,
                again: again,
                overwrites: options.overwrites)
        }
    }

    /// Stays with a job that another process drives, and shows its events, until that process lets it go.
    func follow(_ job: OwnedJob, plan: Plan, until stops: AsyncStream<Void>? = nil) async throws -> OwnedJob {
        let view = view(of: plan.definition.stages.map(\.id))
        defer { view.finish() }
        return try await follower.follow(job, plan: plan, until: stops) { view.show($0) }
    }

    /// Follows a job that this command would drive if no other process did; nil when a signal ended that.
    func join(_ job: OwnedJob, plan: Plan) async throws -> OwnedJob? {
        let latest = try await SignalledWait(console: console).run(for: job.snapshot.record.id.text) { stop in
            try await follow(job, plan: plan, until: stop.stream)
        }
        wasStopped = latest == nil
        return latest
    }

    /// Shows the events of all jobs that are driven somewhere, those that begin meanwhile too, until none is.
    ///
    /// - Parameter first: a job that is shown as if it was the only one; others have their names before their stages.
    /// - Returns: the status of all that were shown but the first, and but items, for which their batch answers.
    func followAll(from first: (job: OwnedJob, plan: Plan)? = nil) async throws -> ExitStatus {
        let view = view(of: first?.plan.definition.stages.map(\.id) ?? [])
        defer { view.finish() }
        let id = first?.job.snapshot.record.id
        let shown = try await follower.followAll(from: first) {
            view.show(options.isJSON || $0.job == id ? $0 : $0.named())
        }
        var statuses: [ExitStatus] = []
        for other in shown where other != id {
            guard let latest = try await journal.jobs(JobQuery(prefix: other.text, isBrief: true)).first,
                latest.snapshot.record.item == nil
            else { continue }
            statuses.append(ExitStatus(latest.phase))
        }
        return .combined(statuses)
    }

    private var follower: JobFollower { JobFollower(workspace, journal, interactivity: options.interactivity) }

    /// Drives what `begin` gives until it ends, and shows it.
    ///
    /// - Parameter goesOn: whether the job began before: then what has ended by now is shown as such.
    func drive(
        job: JobID, plan: Plan, secretInputs: JSONObject, goesOn: Bool = false,
        begin: (Engine) async throws(JournalFailure) -> Engine.JobHandle
    ) async throws -> ExitStatus {
        let title: StyledText? = isLive ? "job \(try await job.short(in: journal), .bold)" : nil
        let view = view(of: plan.definition.stages.map(\.id), below: title)
        let counter = ItemCounter(plan, journal, view)
        let engine = try workspace.engine(
            journal: journal, secrets: try workspace.secrets(),
            showLine: { [console] line in
                if console.isTerminal { view.note(StyledText(message: line)) }
                return console.isTerminal
            },
            watchExchange: exchangeWatcher { view.note($0) },
            observe: { [adviser = WaitingAdviser(options, plan)] event in
                view.show(event)
                counter.observe(event)
                if let advice = adviser.advice(on: event) { view.note(StyledText(message: advice)) }
            })
        let drive: Engine.JobHandle
        do {
            drive = try await begin(engine)
        } catch {
            view.finish()
            throw error
        }
        await workspace.lendSecrets(to: job, plan: plan, secretInputs: secretInputs)
        if goesOn, let snapshot = try await journal.snapshot(of: job) { view.seed(snapshot) }
        let ended = RunEnd()
        let scheduler = JobScheduler(ended, clock: journal.clock, limits: .command(concurrency: 1, parking: nil))
        scheduler.adopt(drive)
        wasStopped = await SignalledJobs(journal: journal) { view.note(StyledText(message: $0)) }.run(scheduler)
        view.finish()
        return try await report(try ended.end.get(), of: job, plan, secretInputs: secretInputs)
    }

    /// Shows exchanges as `-v` asks for, a line at a time; nil without it.
    func exchangeWatcher(show: @escaping @Sendable (StyledText) -> Void) -> (@Sendable (ExchangeRecord) -> Void)? {
        let withHeaders = options.verbosity > 1
        guard options.verbosity > 0 else { return nil }
        return { record in ExchangeText(record: record).lines(withHeaders: withHeaders).forEach(show) }
    }

    private var isLive: Bool { console.isTerminal && !options.isPlain && !options.isJSON }

    /// - Parameter title: the line above a live view.
    private func view(of stages: [String], below title: StyledText? = nil) -> any EventView {
        let view: any EventView
        if options.isJSON {
            view = JSONLinesView(console: console)
        } else if isLive {
            view = LiveView(console: console, stages: stages, below: title, clock: journal.clock)
        } else {
            view = PlainView(console: console)
        }
        workspace.observeOutages { view.note(OutageNote($0).line) }
        return view
    }
}

/// The only job of a scheduler, which adopted it, and how its run ended.
private final class RunEnd: JobSource {
    private let result = Mutex<Result<JobEnd, JournalFailure>>(.success(.lost))

    var end: Result<JobEnd, JournalFailure> { result.withLock { $0 } }

    func takeUp(_ job: JobID) async throws(JournalFailure) -> Engine.JobHandle? { nil }
    func unpark(_ job: ParkedJob) async throws(JournalFailure) -> Engine.JobHandle { throw .noSuchJob(job.lease.job) }

    func ended(_ job: JobID, _ result: Result<JobEnd, JournalFailure>, as snapshot: JobSnapshot?) async {
        self.result.withLock { $0 = result }
    }
}

extension JobEvent {
    /// Returns the same with its job's pipeline and the end of its id before the stage, where several jobs are shown
    /// together.
    fileprivate func named() -> JobEvent {
        guard let step else { return self }
        return JobEvent(
            sequence: sequence, time: time, kind: kind, job: job, pipeline: pipeline,
            step: StepKey(stage: "\(pipeline) …\(job.text.suffix(4)) \(step.stage)", item: step.item), attempt: attempt,
            data: data)
    }
}
