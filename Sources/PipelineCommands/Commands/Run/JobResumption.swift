import ArgumentParser
import PipelineCore
import PipelineEngine
import PipelineKit

/// The option of how many jobs a command runs side by side.
struct ConcurrencyOptions: ParsableArguments {
    @Option(
        name: .customLong("jobs"),
        help: ArgumentHelp(
            "How many jobs are at work at a time; those that only wait are not counted.", valueName: "count"),
        transform: WholeNumber.from(1))
    var concurrency = 64
}

/// Goes on with jobs that a command was given: with one as `run` does, with several side by side.
struct JobResumption {
    let session: JobSession
    let concurrency: Int
    /// `-i NAME=VALUE`, for the secret inputs.
    let secretInputs: SecretAssignments
    /// Says how to go on with each.
    let decide: ResumedJobs.Decision

    /// Stays with the jobs until each has come to rest; the statuses of all.
    func run(_ jobs: [OwnedJob]) async throws -> [ExitStatus] {
        let plans = PlanCache(session.workspace)
        if jobs.isEmpty { return [] }
        guard jobs.count == 1, let brief = jobs.first?.snapshot.record.id else {
            return try await runTogether(jobs.map(\.snapshot.record.id), plans)
        }
        guard let job = try await session.journal.jobs(JobQuery(prefix: brief.text)).first else {
            throw JournalFailure.noSuchJob(brief)
        }
        switch try await decide(job, plans) {
        case .rest: return [try await session.showEnd(of: job)]
        case .unknown: return [try await session.refuseUnknown(job.snapshot)]
        case .run(let plan, let again):
            let inputs = try await secretInputs.values(of: job.snapshot.record, in: plan, session.workspace)
            return [try await session.resume(job, plan: plan, secretInputs: inputs, again: again)]
        }
    }

    private func runTogether(_ jobs: [JobID], _ plans: PlanCache) async throws -> [ExitStatus] {
        let view = JobsView(session.console, session.options, total: jobs.count, clock: session.journal.clock)
        let source = try ResumedJobs(session, plans, view, secretInputs: secretInputs, decide: decide)
        let scheduler = JobScheduler(
            source, clock: session.journal.clock, limits: .command(concurrency: concurrency))
        for job in jobs { scheduler.take(job) }
        let wasStopped = await withTaskGroup(of: Void.self) { group in
            group.addTask {
                while (try? await JobFollower.pause(.seconds(10))) != nil { view.showProgress() }
            }
            defer { group.cancelAll() }
            return await SignalledJobs(journal: session.journal) { view.note(StyledText(message: $0)) }.run(scheduler)
        }
        view.finish()
        session.wasStopped = wasStopped
        return view.statuses + (wasStopped ? [.suspended] : [])
    }
}
