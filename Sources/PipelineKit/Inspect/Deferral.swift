package import PipelineCore

/// That the rules of the background put off what follows something, as the event of it says.
package struct Deferral {
    package let until: Timestamp
    package let reason: String

    /// Nil for an event that puts nothing off any more.
    package init?(_ event: JobEvent, at now: Timestamp) {
        guard event.kind == .resumeDeferred, let text = event.data["until"]?.string,
            let until = try? Timestamp.parse(text), until > now
        else { return nil }
        self.until = until
        reason = event.data["reason"]?.string ?? ""
    }
}

extension [JobEvent] {
    /// Returns what puts off the step's own going on; nil when it has gone on since, as it does once a person attends.
    package func deferral(of step: StepKey, at now: Timestamp) -> Deferral? {
        last { $0.step == step }.flatMap { Deferral($0, at: now) }
    }

    /// Returns what puts off the step's going on, or its beginning after one that has ended.
    package func deferral(of step: StepKey, in job: JobSnapshot, _ plan: Plan, at now: Timestamp) -> Deferral? {
        deferral(of: step, at: now)
            ?? last { $0.putsOffBeginning(of: step, in: job, plan) }.flatMap { Deferral($0, at: now) }
    }
}

extension JobEvent {
    fileprivate func putsOffBeginning(of other: StepKey, in job: JobSnapshot, _ plan: Plan) -> Bool {
        guard kind == .resumeDeferred, let ended = step, job.steps[ended]?.state.isEnded == true,
            job.steps[other]?.state == .pending
        else { return false }
        let needs = plan.stage(other.stage)?.needs ?? []
        return job.steps.allSatisfy { !needs.contains($0.key.stage) || $0.value.state.isEnded }
    }
}
