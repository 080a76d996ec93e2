import JSONPath
import PipelineCore
import PipelineEngine
import PipelineKit

/// The report of how a job came to rest: lines for a person, data for a script, and the status that stands for it.
struct EndReport: Sendable {
    private(set) var notes: [StyledText] = []
    private(set) var data: [String] = []
    private(set) var status: ExitStatus

    init(_ status: ExitStatus) { self.status = status }

    /// A report of what kept the job from being run.
    init(_ error: any Error) {
        let report = ErrorReport(error)
        self.init(report.status)
        for line in report.lines { note(line) }
    }

    mutating func note(_ line: StyledText) { notes.append(line) }

    mutating func note(_ text: String) {
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            notes.append(StyledText(message: String(line)))
        }
    }

    mutating func add(data line: String) { data.append(line) }

    @discardableResult func show(on console: Console) -> ExitStatus {
        for line in data { console.data(line) }
        for line in notes { console.note(line) }
        return status
    }
}

/// Makes reports of jobs that came to rest.
struct EndReporter: Sendable {
    let workspace: Workspace
    let journal: Workspace.Journal
    /// True if events are written, so that files need no lines.
    let isJSON: Bool

    /// The report of a run that ended; the plan says which secrets the job needs. What could not be told of it by now goes to
    /// the background owner, with the values of the secret inputs.
    func report(
        _ end: JobEnd, of job: JobSnapshot, _ plan: Plan?, secretInputs: JSONObject = [:]
    ) async throws -> EndReport {
        var report: EndReport
        switch end {
        case .ended: report = rest(of: job)
        case .unknown: report = try await unknown(job)
        case .parked, .lost:
            report = EndReport(.suspended)
            report.note("error: another process has taken job \(job.record.id) over")
        case .suspended(let cause): report = try await suspended(cause, job, plan)
        }
        var isHanded = false
        if let plan { isHanded = await workspace.handNotifications(of: job, plan: plan, secretInputs: secretInputs) }
        noteUntold(of: job, isHanded: isHanded, &report)
        return report
    }

    private func suspended(_ cause: SuspensionCause, _ job: JobSnapshot, _ plan: Plan?) async throws -> EndReport {
        var report = EndReport(.suspended)
        let failure = cause == .noNetwork ? try await lastFailure(of: job.record.id) : nil
        if let (stage, failure) = failure {
            report.note("stage '\(stage)' can't go on now")
            for line in ErrorReport.lines(of: failure) { report.note(line) }
        }
        if cause == .secret, let plan, let missing = try await workspace.missingSecret(of: plan, for: job.record) {
            for line in ErrorReport.lines(of: missing.failure) { report.note(line) }
        }
        for key in job.steps.keys.sorted() where job.openSubmit(of: key) != nil {
            report.note("the submit of \(key) had no answer when it was stopped")
        }
        let isLocal = failure.map { $0.1.request == nil } ?? false
        report.note(
            "suspended\(isLocal ? "" : " (\(cause.explanation))"); go on with: pipeline resume \(job.record.id)")
        return report
    }

    /// The report of a job that ended before: for a program its events too.
    func earlierEnd(of job: JobSnapshot) async throws -> EndReport {
        var report = rest(of: job)
        guard isJSON else { return report }
        for event in try await journal.events(of: job.record.id, after: 0) { report.add(data: event.json.text) }
        return report
    }

    /// The report of an ended job: its files, or its failure.
    func rest(of job: JobSnapshot) -> EndReport {
        switch job.phase(isOwned: false) {
        case .succeeded:
            var report = EndReport(.succeeded)
            if !isJSON { for file in job.orderedFiles { report.add(data: file.path) } }
            noteTolerated(in: job, &report)
            return report
        case .cancelled:
            var report = EndReport(.failed)
            report.note("job \(job.record.id) was cancelled")
            return report
        default:
            var report = EndReport(.failed)
            if let (step, failure) = job.failure {
                report.note("stage '\(step)' \("failed", .red)")
                for line in ErrorReport.lines(of: failure) { report.note(line) }
            }
            // A hint that begins it again says what helps: taken up as it is, it may fail in the same way forever.
            if job.failure?.failure.hint?.contains("pipeline retry \(job.record.id) --from ") != true {
                noteWay(on: job, &report)
            }
            return report
        }
    }

    /// Notes what goes on with a job that has failed: with its own document, and what that submits once more.
    private func noteWay(on job: JobSnapshot, _ report: inout EndReport) {
        let verb = job.wasGivenUp ? "retry" : "resume"
        let again = job.failure.flatMap {
            job.submitsAgain($0.step.stage) ? ", which submits stage '\($0.step.stage)' again" : nil
        }
        report.note("once mended, go on with: pipeline \(verb) \(job.record.id)\(again ?? "")")
        guard job.failure?.failure.mayBeOfDocument == true, job.batch == nil, job.record.item == nil else { return }
        let what = again == nil ? "the document" : "its poll"
        report.note("once \(what) is mended: \(ChangeNote.command(of: job.record))")
    }

    /// The report of a job of which a submit is unknown: what it is about, and what to type.
    func unknown(_ job: JobSnapshot) async throws -> EndReport {
        var report = EndReport(.unknown)
        let plan = try await workspace.plan(of: job.record)
        let clock = TimeText(now: SystemClock().now)
        let exchanges = workspace.exchanges.records(of: job.record.id)
        let submits = UnknownSubmits(of: job, in: exchanges)
        let (accepted, lookedUp) = (submits.accepted, submits.lookedUp)
        let mending =
            job.record.item == nil
            ? ChangeNote.command(of: job.record) : "the same 'pipeline run … --each …' again, with --changed"
        for (key, step) in job.steps.sorted(by: { $0.key < $1.key }) {
            guard case .unknown(_, let submit) = step.state, let stage = plan.stage(key.stage) else {
                if let open = job.openSubmit(of: key) { noteOpen(open, of: key, job, clock, &report) }
                continue
            }
            let item = key.item.map { " --item \($0)" } ?? ""
            let line = "pipeline resolve \(job.record.id) --stage \(key.stage)\(item)"
            let flags = SubmittedCaptures(stage).flags
            let width = max(flags?.count ?? 0, 11)
            func way(_ flags: String, _ meaning: String) {
                report.note("    \(line) \(flags)\(String(repeating: " ", count: width - flags.count))   \(meaning)")
            }
            report.note("stage '\(key)': it is not known whether the service took the submit (key \(submit.key))")
            report.note("  since: \(clock.ago(submit.since)) (\(clock.clock(submit.since)))")
            report.note("  because: \(submit.reason)")
            if accepted.contains(key), let response = LastResponse(of: key, in: exchanges.filter { $0.role == nil }) {
                report.note("  \(response.line(clock))")
                report.note("  if that has what is captured, mend \"capture\", then: \(mending)")
            } else if lookedUp.contains(key) {
                let order = submits.mayBeReconciled ? "" : "and resolve the others first; then "
                report.note(
                    "  if the look-up, or \"capture\", is wrong, mend it; \(order)it is looked for again by: \(mending)"
                )
            }
            if let flags {
                report.note("  look at the service, then type one of:")
                way(flags, flags == "--id ID" ? "it is there, under this id" : "it is there, with these values")
            } else {
                report.note("  its response was the result, which can't be had again; type one of:")
            }
            way("--resubmit", "it is not there: send it again")
            way("--abandon", "give the stage up")
        }
        return report
    }

    /// Notes a submit that was under way when its process ended: going on reconciles it, as the document says.
    private func noteOpen(
        _ submit: SubmitRecord, of key: StepKey, _ job: JobSnapshot, _ clock: TimeText, _ report: inout EndReport
    ) {
        report.note("stage '\(key)': it is not known whether the service took the submit (key \(submit.key))")
        if let since = submit.firstSent { report.note("  since: \(clock.ago(since)) (\(clock.clock(since)))") }
        report.note("  because: it was sent, and no response to it is known")
        report.note("  go on with: \(job.reconcilingCommand)")
    }

    /// Notes what somebody should have been told of and was not: a line for each reason, however many it kept back.
    private func noteUntold(of job: JobSnapshot, isHanded: Bool, _ report: inout EndReport) {
        let teller = isHanded ? "the background owner" : "'pipeline daemon'"
        let untold = job.notifications.values.filter { $0.problem != nil && [.due, .abandoned].contains($0.state) }
        var said: Set<String> = []
        for record in untold.sorted(by: { $0.id < $1.id }) {
            let problem = record.problem ?? ""
            guard said.insert("\(record.state.rawValue) \(problem)").inserted else { continue }
            let others = untold.filter { $0.problem == problem && $0.state == record.state }
            let names = Set(others.map { "'\($0.event.rawValue)'" }).sorted().joined(separator: ", ")
            let what = others.count == 1 ? "the notification \(names) was" : "the notifications \(names) were"
            let rest = record.state == .due ? "; \(teller) tries again" : ""
            report.note("warning: \(what) not sent: \(problem)\(rest)")
        }
    }

    /// Returns what the last attempt came to that failed, and of which stage.
    private func lastFailure(of job: JobID) async throws -> (stage: String, failure: StepFailure)? {
        let events = try await journal.events(of: job, after: 0)
        guard let event = events.last(where: { $0.kind == .attemptFailed }), let step = event.step,
            let error = event.data["error"]
        else { return nil }
        return (step.description, StepFailure(json: error))
    }

    /// Notes what failed in a job that succeeded all the same (`continueOnFailure`).
    private func noteTolerated(in job: JobSnapshot, _ report: inout EndReport) {
        let counts = job.itemCounts
        var stages: [(name: String, count: Int, failure: StepFailure)] = []
        for (step, failure) in job.toleratedFailures {
            if stages.last?.name == step.stage {
                stages[stages.count - 1].count += 1
            } else {
                stages.append((step.stage, 1, failure))
            }
        }
        for (name, count, failure) in stages {
            let what = counts[name].map { "\(count) of \($0) items of stage '\(name)'" } ?? "stage '\(name)'"
            report.note("warning: \(what) failed: \(failure.title)")
        }
        if !stages.isEmpty { report.note("  hint: all of it: pipeline show \(job.record.id) --failed") }
    }
}
