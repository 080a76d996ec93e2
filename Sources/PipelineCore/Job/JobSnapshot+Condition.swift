extension JobSnapshot {
    /// Returns what is asked for a discretionary step that could begin: it has waited since all that it needs ended,
    /// over restarts too.
    package func momentQuestion(
        for key: StepKey, _ stage: PlannedStage, budget: ResumeBudget, mustBeginBy: Timestamp? = nil
    ) -> ConditionQuestion {
        let since = stage.needs.compactMap { steps[StepKey(stage: $0)]?.ended }.max() ?? record.started
        return ConditionQuestion(
            pipeline: record.pipeline, job: record.id, step: key, since: since, mustBeginBy: mustBeginBy, budget: budget
        )
    }
}
