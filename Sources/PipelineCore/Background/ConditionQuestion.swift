/// A discretionary step that could begin: what the policies look at beside the machine.
public struct ConditionQuestion: Sendable, Hashable {
    public var pipeline: String
    public var job: JobID
    public var step: StepKey
    /// Since when it could have begun.
    public var since: Timestamp
    /// Before this it must begin: what it needs expires, or its deadline would pass. Nil for no such time.
    public var mustBeginBy: Timestamp?
    /// The pipeline's budget; the gate knows how much of it is used.
    public var budget: ResumeBudget

    public init(
        pipeline: String, job: JobID, step: StepKey, since: Timestamp, mustBeginBy: Timestamp? = nil,
        budget: ResumeBudget
    ) {
        self.pipeline = pipeline
        self.job = job
        self.step = step
        self.since = since
        self.mustBeginBy = mustBeginBy
        self.budget = budget
    }
}

/// All that a policy may look at.
public struct ConditionFacts: Sendable {
    public var question: ConditionQuestion
    public var surroundings: DeviceConditions
    /// How many resumes of the budget are used.
    public var used: Int
    public var now: Timestamp

    public init(question: ConditionQuestion, surroundings: DeviceConditions, used: Int, now: Timestamp) {
        self.question = question
        self.surroundings = surroundings
        self.used = used
        self.now = now
    }
}
