package import PipelineCore
package import PipelineEngine

extension Workspace {
    /// The gate of background jobs: one for all jobs of the process.
    package func gate(journal: Journal, clock: any WallClock = SystemClock()) -> ResumeRateLimiter {
        ResumeRateLimiter(history: journal, clock: clock, sensors: sensors)
    }

    /// The sensors that say what the machine is like.
    package var sensors: SystemConditions { SystemConditions(environment: settings.environment) }

    /// The ledger of resumes as it stands now; empty where there is no journal.
    package func ledger() async throws(JournalFailure) -> ResumeLedger {
        guard let journal = try existingJournal() else { return ResumeLedger() }
        let since = SystemClock().now - ResumeRateLimiter.reach
        return ResumeLedger(records: try await journal.resumes(since: since, of: nil))
    }

    /// The samples of a pipeline by stage; none where there is no journal.
    package func samples(of pipeline: String) async throws(JournalFailure) -> [String: [StageSample]] {
        guard let journal = try existingJournal() else { return [:] }
        return Dictionary(grouping: try await journal.samples(of: pipeline, limit: 500), by: \.stage)
    }

    /// Returns what a plan would cost in the background, as the ledger stands now.
    package func forecast(
        of plan: Plan, budget: ResumeBudgetDefinition?, in scope: Scope
    ) async throws(JournalFailure) -> BackgroundForecast {
        BackgroundForecast(
            plan, budget: budget, ledger: try await ledger(), samples: try await samples(of: plan.definition.name),
            takesPushes: settings.callbackURL != nil, in: scope, at: SystemClock().now)
    }
}
