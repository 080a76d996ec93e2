/// Chooses what a job does next: a pure function of its plan, what is known of it, and the time.
public struct JobMachine: Sendable {
    private let plan: Plan

    public init(plan: Plan) { self.plan = plan }

    /// One thing to do next.
    public enum Decision: Sendable, Hashable {
        /// All that the step needs has ended: evaluate its `when`, then start or skip it.
        case begin(StepKey)
        /// The step reads a capture of a skipped stage.
        case skip(StepKey)
        /// The time of a waiting step has come.
        case wake(StepKey)
    }

    /// What can be done at the time; empty when only something from outside moves the job on.
    public func decisions(for job: JobSnapshot, at time: Timestamp) -> [Decision] {
        let mayBegin = job.failure == nil
        return plan.stages.flatMap { stage -> [Decision] in
            let key = StepKey(stage: stage.id)
            guard let step = job.steps[key] else { return [] }
            switch step.state {
            case .pending: return mayBegin ? decision(stage, key, job).map { [$0] } ?? [] : []
            case .waiting(_, let wake, _):
                guard let due = wake.time, due <= time else { return [] }
                return [.wake(key)]
            case .running, .unknown, .succeeded, .failed, .cancelled, .skipped: return []
            }
        }
    }

    private func decision(_ stage: PlannedStage, _ key: StepKey, _ job: JobSnapshot) -> Decision? {
        let states = stage.needs.map { job.steps[StepKey(stage: $0)]?.state }
        guard states.allSatisfy({ $0?.isEnded == true }) else { return nil }
        let isWithoutSource = stage.reads.contains { job.steps[StepKey(stage: $0)]?.state.name == .skipped }
        return isWithoutSource ? .skip(key) : .begin(key)
    }

    /// When the next wait ends by itself.
    public func nextWake(of job: JobSnapshot) -> Timestamp? {
        job.steps.values.compactMap { step in
            if case .waiting(_, let wake, _) = step.state { wake.time } else { nil }
        }.min()
    }

    /// How the job stands when nothing runs and nothing can be decided; nil while something is still to come.
    public func rest(of job: JobSnapshot) -> Rest? {
        let states = job.steps.values.map(\.state)
        if states.contains(where: { if case .waiting(_, let wake, _) = $0 { wake != .resume } else { false } }) {
            return nil
        }
        if states.contains(where: { $0.name == .running }) { return nil }
        if states.contains(where: { $0.name == .waiting }) { return .needsResume }
        if states.contains(where: { $0.name == .unknown }) { return .unknown }
        return .ended(job.outcome)
    }

    /// What a job that does nothing more by itself has come to.
    public enum Rest: Sendable, Hashable {
        case ended(JobPhase)
        /// A submit must be settled by a person.
        case unknown
        /// A step waits for a resume.
        case needsResume
    }
}
