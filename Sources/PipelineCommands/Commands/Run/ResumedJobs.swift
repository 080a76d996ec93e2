import JSONPath
import PipelineCore
import PipelineEngine
import PipelineKit
import Synchronization

/// The way in which a command goes on with a job that it was given.
enum JobContinuation: Sendable {
    /// It has come to rest, and is only reported.
    case rest
    /// A submit of it is unknown: only a person can go on.
    case unknown
    case run(plan: Plan, again: RestartScope)
}

/// Jobs that a command goes on with side by side: each is read when it is its turn, and forgotten when it has come to rest.
final class ResumedJobs: JobSource {
    /// Says how to go on with a job, or throws why not.
    typealias Decision = @Sendable (OwnedJob, PlanCache) async throws -> JobContinuation

    private let workspace: Workspace
    private let journal: Workspace.Journal
    private let engine: Engine
    private let plans: PlanCache
    private let view: JobsView
    private let reporter: EndReporter
    private let options: JobSession.Options
    /// `-i NAME=VALUE`, for the secret inputs of all jobs.
    private let assignments: SecretAssignments
    private let decide: Decision

    init(
        _ session: JobSession, _ plans: PlanCache, _ view: JobsView, secretInputs assignments: SecretAssignments,
        decide: @escaping Decision
    ) throws {
        workspace = session.workspace
        journal = session.journal
        options = session.options
        self.plans = plans
        self.view = view
        self.assignments = assignments
        self.decide = decide
        reporter = EndReporter(workspace: workspace, journal: journal, isJSON: options.isJSON)
        engine = try workspace.engine(
            journal: journal, secrets: try workspace.secrets(),
            showLine: { line in view.note(StyledText(message: line)) },
            watchExchange: session.exchangeWatcher { view.note($0) }, observe: { view.show($0) })
    }

    func takeUp(_ job: JobID) async throws(JournalFailure) -> Engine.JobHandle? {
        guard let found = try await journal.jobs(JobQuery(prefix: job.text)).first else { throw .noSuchJob(job) }
        let record = found.snapshot.record
        view.begin(record)
        let failure: any Error
        do {
            switch try await decide(found, plans) {
            case .rest: view.end(job, try await reporter.earlierEnd(of: found.snapshot))
            case .unknown: view.end(job, try await reporter.unknown(found.snapshot))
            case .run(let plan, let again):
                try await found.checkMachine(in: journal, again: again)
                for change in ChangeNote.all(of: found.snapshot, begunAnew: again.begunAnew(in: plan)) {
                    view.note("note: \(change.text)", of: job)
                }
                let inputs = try await assignments.values(of: record, in: plan, workspace)
                let handle = try await engine.resume(
                    job, plan: plan, mode: options.mode, interactivity: options.interactivity, secretInputs: inputs,
                    again: again, overwrites: options.overwrites)
                await workspace.lendSecrets(to: job, plan: plan, secretInputs: inputs)
                return handle
            }
            return nil
        } catch {
            failure = error
        }
        if let failure = failure as? JournalFailure { throw failure }
        view.end(job, EndReport(failure))
        return nil
    }

    func unpark(_ job: ParkedJob) async throws(JournalFailure) -> Engine.JobHandle {
        try await engine.unpark(job) { snapshot in
            let plan = try await plans.plan(of: snapshot.record)
            let inputs = try await assignments.values(of: snapshot.record, in: plan, workspace)
            return engine.unpark(job, as: snapshot, plan: plan, secretInputs: inputs)
        }
    }

    func ended(_ job: JobID, _ result: Result<JobEnd, JournalFailure>, as snapshot: JobSnapshot?) async {
        do {
            let end = try result.get()
            if case .parked = end { return }
            guard let snapshot else { return }
            let needsPlan = end == .suspended(.secret) || snapshot.nextTelling != nil
            let plan = needsPlan ? try? await plans.plan(of: snapshot.record) : nil
            var inputs: JSONObject = [:]
            if let plan { inputs = (try? await assignments.values(of: snapshot.record, in: plan, workspace)) ?? [:] }
            view.end(job, try await reporter.report(end, of: snapshot, plan, secretInputs: inputs))
        } catch {
            view.end(job, EndReport(error))
        }
    }
}
