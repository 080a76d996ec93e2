import JSONPath
import PipelineCore
import PipelineEngine
import PipelineKit

/// One job that a command stays with: shows its events, stops it on a signal, and says how it ended.
final class JobSession {
    struct Options {
        /// Events as JSON Lines on standard output instead of a view for people.
        let isJSON: Bool
        let isPlain: Bool
        let overwrites: Bool
    }

    private let workspace: Workspace
    private let journal: Workspace.Journal
    private let console: Console
    private let options: Options
    /// Whether a signal ended it.
    private(set) var wasStopped = false

    init(_ workspace: Workspace, _ journal: Workspace.Journal, _ console: Console, options: Options) {
        self.workspace = workspace
        self.journal = journal
        self.console = console
        self.options = options
    }

    /// Fails before anything is sent when a secret that the plan names is nowhere.
    func checkSecrets(of plan: Plan) async throws {
        if let missing = try await missingSecret(of: plan) { throw missing }
    }

    private func missingSecret(of plan: Plan) async throws -> CommandError? {
        let secrets = try workspace.secrets()
        for name in plan.secrets where !plan.optionalSecrets.contains(name) {
            if await secrets.secret(name) == nil {
                return CommandError(
                    .invalid, "the secret \(name) is not set",
                    hint: "set PIPELINE_SECRET_\(name), or give a file with --secrets-file")
            }
        }
        return nil
    }

    /// Takes an existing job up and stays with it.
    func resume(
        _ job: OwnedJob, plan: Plan, secretInputs: JSONObject, again: Again, mode: JobMode = .attached
    ) async throws -> ExitStatus {
        let id = job.snapshot.record.id
        return try await drive(job: id, plan: plan) { [options] engine throws(JournalFailure) in
            try await engine.resume(
                id, plan: plan, mode: mode, secretInputs: secretInputs, again: again,
                overwrites: options.overwrites)
        }
    }

    /// Stays with a job that another process drives, and shows its events, until that process lets it go.
    func follow(_ job: OwnedJob, plan: Plan) async throws -> OwnedJob {
        let view = view(of: plan.definition.stages.map(\.id))
        defer { view.finish() }
        let id = job.snapshot.record.id
        var last = 0
        while true {
            // Looked at before the events, so that the last of them are shown too.
            let latest = try await journal.jobs(JobQuery(prefix: id.text)).first ?? job
            for event in try await journal.events(of: id, after: last) {
                last = event.sequence ?? last
                view.show(event)
            }
            if latest.owner == nil { return latest }
            try await SystemClock().sleep(until: SystemClock().now + .milliseconds(200))
        }
    }

    /// Shows the events of all jobs that are driven somewhere, those that begin meanwhile too, until none is.
    func followAll() async throws {
        let view = view(of: [])
        defer { view.finish() }
        var shown: [JobID: Int] = [:]
        while true {
            let driven = try await journal.jobs(JobQuery(isUnfinished: true)).filter { $0.owner != nil }
            for id in Set(shown.keys).union(driven.map(\.snapshot.record.id)).sorted(by: { $0.text < $1.text }) {
                for event in try await journal.events(of: id, after: shown[id] ?? 0) {
                    shown[id] = event.sequence ?? shown[id]
                    view.show(options.isJSON ? event : event.named())
                }
            }
            if driven.isEmpty { return }
            try await SystemClock().sleep(until: SystemClock().now + .milliseconds(200))
        }
    }

    /// Drives what `begin` gives until it ends, and shows it.
    func drive(
        job: JobID, plan: Plan, begin: (Engine) async throws(JournalFailure) -> Engine.OwnedDrive
    ) async throws -> ExitStatus {
        let view = view(of: plan.definition.stages.map(\.id))
        let engine = try workspace.engine(
            journal: journal, secrets: try workspace.secrets(),
            showLine: { [console] line in
                if console.isTerminal { view.note(line) }
                return console.isTerminal
            }, observe: { view.show($0) })
        let drive = try await begin(engine)
        let signals = StopSignals { drive.suspend(.interrupted) }
        let inbox = journal.requests(for: journal.owner)
        let end = try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { for await asked in inbox where asked == job { drive.checkInbox() } }
            defer { group.cancelAll() }
            return try await drive.run()
        }
        wasStopped = signals.count > 0
        view.finish()
        return try await report(end, of: job, plan)
    }

    private func view(of stages: [String]) -> any EventView {
        if options.isJSON { return JSONLinesView(console: console) }
        return console.isTerminal && !options.isPlain
            ? LiveView(console: console, stages: stages) : PlainView(console: console)
    }

    private func report(_ end: JobEnd, of job: JobID, _ plan: Plan) async throws -> ExitStatus {
        guard let snapshot = try await journal.snapshot(of: job) else { return .failed }
        noteUntold(of: snapshot)
        switch end {
        case .ended: return summarize(snapshot, isOwned: false)
        case .unknown: return refuseUnknown(snapshot)
        case .parked, .lost:
            console.note("error: another process has taken job \(job) over")
            return .suspended
        case .suspended(let cause):
            let failure = cause == .noNetwork ? try await lastFailure(of: job) : nil
            if let (stage, failure) = failure {
                console.note("stage '\(stage)' can't go on now")
                for line in ErrorReport.lines(of: failure) { console.note(line) }
            }
            if cause == .secret, let missing = try await missingSecret(of: plan) {
                for line in ErrorReport.lines(of: missing.failure) { console.note(line) }
            }
            let isLocal = failure.map { $0.1.request == nil } ?? false
            console.note(
                "suspended\(isLocal ? "" : " (\(cause.explanation))"); go on with: pipeline resume \(job)")
            return .suspended
        }
    }

    /// What somebody should have been told of and was not: a line for each reason, however many it kept back.
    private func noteUntold(of job: JobSnapshot) {
        let untold = job.notifications.values.filter { $0.problem != nil && [.due, .abandoned].contains($0.state) }
        var said: Set<String> = []
        for record in untold.sorted(by: { $0.id < $1.id }) {
            let problem = record.problem ?? ""
            guard said.insert("\(record.state.rawValue) \(problem)").inserted else { continue }
            let others = untold.filter { $0.problem == problem && $0.state == record.state }
            let names = Set(others.map { "'\($0.event.rawValue)'" }).sorted().joined(separator: ", ")
            let what = others.count == 1 ? "the notification \(names) was" : "the notifications \(names) were"
            let rest = record.state == .due ? "; 'pipeline daemon' tries again" : ""
            console.note("warning: \(what) not sent: \(problem)\(rest)")
        }
    }

    /// What the last try came to that failed, and of which stage.
    private func lastFailure(of job: JobID) async throws -> (stage: String, failure: StepFailure)? {
        let events = try await journal.events(of: job, after: 0)
        guard let event = events.last(where: { $0.kind == .attemptFailed }), let step = event.step,
            let error = event.data["error"]
        else { return nil }
        return (step.description, StepFailure(json: error))
    }

    /// How an ended job ended: its files, or its failure.
    func summarize(_ snapshot: JobSnapshot, isOwned: Bool) -> ExitStatus {
        switch snapshot.phase(isOwned: isOwned) {
        case .succeeded:
            if !options.isJSON { for file in snapshot.files { console.data(file.path) } }
            return .succeeded
        case .cancelled:
            console.note("job \(snapshot.record.id) was cancelled")
            return .failed
        default:
            if let (step, failure) = snapshot.failure {
                console.note("stage '\(step)' failed")
                for line in ErrorReport.lines(of: failure) { console.note(line) }
            }
            console.note("once mended, go on with: pipeline resume \(snapshot.record.id)")
            return .failed
        }
    }

    /// Says what is unknown, and what to type.
    func refuseUnknown(_ snapshot: JobSnapshot) -> ExitStatus {
        for (key, step) in snapshot.steps.sorted(by: { $0.key < $1.key }) {
            guard case .unknown(_, let submit) = step.state else { continue }
            let item = key.item.map { " --item \($0)" } ?? ""
            let line = "pipeline resolve \(snapshot.record.id) --stage \(key.stage)\(item)"
            console.note("stage '\(key)': it is not known whether the service took the submit (key \(submit.key))")
            console.note("  since: \(submit.since)")
            console.note("  because: \(submit.reason)")
            console.note("  look at the service, then type one of:")
            console.note("    \(line) --id ID       it is there, under this id")
            console.note("    \(line) --resubmit    it is not there: send it again")
            console.note("    \(line) --abandon     give the stage up")
        }
        return .unknown
    }
}

extension JobEvent {
    /// The same with its job's pipeline and the end of its id before the stage, where several jobs are shown together.
    fileprivate func named() -> JobEvent {
        guard let step else { return self }
        return JobEvent(
            sequence: sequence, time: time, kind: kind, job: job, pipeline: pipeline,
            step: StepKey(stage: "\(pipeline) …\(job.text.suffix(4)) \(step.stage)", item: step.item), attempt: attempt,
            data: data)
    }
}

extension SuspensionCause {
    /// The cause in words.
    var explanation: String {
        switch self {
        case .interrupted: "interrupted"
        case .paused: "paused"
        case .noNetwork: "no answer from the network"
        case .crashed: "its process ended without a word"
        case .secret: "a secret is missing"
        }
    }
}
