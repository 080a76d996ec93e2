extension JobSnapshot {
    /// Returns what is asked for a discretionary step of a stage that could begin: it has waited since all that it needs ended,
    /// over restarts too.
    package func momentQuestion(
        for stage: PlannedStage, budget: ResumeBudget, mustBeginBy: Timestamp? = nil
    ) -> ConditionQuestion {
        let since = stage.needs.compactMap { steps[StepKey(stage: $0)]?.ended }.max() ?? record.started
        return ConditionQuestion(
            pipeline: record.pipeline, since: since, mustBeginBy: mustBeginBy, budget: budget)
    }
}
