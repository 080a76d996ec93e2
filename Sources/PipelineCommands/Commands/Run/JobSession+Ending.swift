import JSONPath
import PipelineCore
import PipelineEngine
import PipelineKit

/// How a job came to rest, as a person and a script learn of it.
extension JobSession {
    func report(_ end: JobEnd, of job: JobID, _ plan: Plan) async throws -> ExitStatus {
        guard let snapshot = try await journal.snapshot(of: job) else { return .failed }
        noteUntold(of: snapshot)
        switch end {
        case .ended: return summarize(snapshot, isOwned: false)
        case .unknown: return try await refuseUnknown(snapshot)
        case .parked, .lost:
            console.note("error: another process has taken job \(job) over")
            return .suspended
        case .suspended(let cause):
            let failure = cause == .noNetwork ? try await lastFailure(of: job) : nil
            if let (stage, failure) = failure {
                console.note("stage '\(stage)' can't go on now")
                for line in ErrorReport.lines(of: failure) { console.note(line) }
            }
            if cause == .secret, let missing = try await workspace.missingSecret(of: plan, for: snapshot.record) {
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

    /// What is known of a job that ended before: its events for a program, its files or its failure for a person.
    func showEnd(of job: OwnedJob) async throws -> ExitStatus {
        if options.isJSON {
            let events = try await journal.events(of: job.snapshot.record.id, after: 0)
            for event in events { console.data(event.json.text) }
        }
        return summarize(job.snapshot, isOwned: false)
    }

    /// How an ended job ended: its files, or its failure.
    func summarize(_ snapshot: JobSnapshot, isOwned: Bool) -> ExitStatus {
        switch snapshot.phase(isOwned: isOwned) {
        case .succeeded:
            if !options.isJSON { for file in snapshot.orderedFiles { console.data(file.path) } }
            noteTolerated(in: snapshot)
            return .succeeded
        case .cancelled:
            console.note("job \(snapshot.record.id) was cancelled")
            return .failed
        default:
            if let (step, failure) = snapshot.failure {
                console.note("stage '\(step)' \("failed", .red)")
                for line in ErrorReport.lines(of: failure) { console.note(line) }
            }
            let verb = snapshot.wasGivenUp ? "retry" : "resume"
            console.note("once mended, go on with: pipeline \(verb) \(snapshot.record.id)")
            return .failed
        }
    }

    /// Says what failed in a job that succeeded all the same (`continueOnFailure`).
    private func noteTolerated(in job: JobSnapshot) {
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
            console.note("warning: \(what) failed: \(failure.title)")
        }
        if !stages.isEmpty { console.note("  hint: all of it: pipeline show \(job.record.id) --failed") }
    }

    /// Says what is unknown, and what to type.
    func refuseUnknown(_ snapshot: JobSnapshot) async throws -> ExitStatus {
        let plan = try await workspace.plan(of: snapshot.record)
        let clock = TimeText(now: SystemClock().now)
        for (key, step) in snapshot.steps.sorted(by: { $0.key < $1.key }) {
            guard case .unknown(_, let submit) = step.state, let stage = plan.stage(key.stage) else { continue }
            let item = key.item.map { " --item \($0)" } ?? ""
            let line = "pipeline resolve \(snapshot.record.id) --stage \(key.stage)\(item)"
            let flags = SubmittedCaptures(stage).flags
            let width = max(flags.count, 11)
            func way(_ flags: String, _ meaning: String) {
                console.note("    \(line) \(flags)\(String(repeating: " ", count: width - flags.count))   \(meaning)")
            }
            console.note("stage '\(key)': it is not known whether the service took the submit (key \(submit.key))")
            console.note("  since: \(clock.ago(submit.since)) (\(clock.clock(submit.since)))")
            console.note("  because: \(submit.reason)")
            console.note("  look at the service, then type one of:")
            way(flags, flags == "--id ID" ? "it is there, under this id" : "it is there, with these values")
            way("--resubmit", "it is not there: send it again")
            way("--abandon", "give the stage up")
        }
        return .unknown
    }
}

extension JobSnapshot {
    /// Whether something of it failed or was cancelled, also where the job succeeded all the same.
    var hasFailures: Bool { steps.values.contains { [.failed, .cancelled].contains($0.state.name) } }
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
        case .tooManyFailures: "more items failed than are tolerated"
        case .sameFailure: "the last items all failed alike"
        }
    }
}
