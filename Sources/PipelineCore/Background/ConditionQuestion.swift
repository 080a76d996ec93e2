/// A discretionary step that could begin: what the policies look at besides the machine.
package struct ConditionQuestion: Sendable, Hashable {
    package var pipeline: String
    /// Since when it could have begun.
    package var since: Timestamp
    /// Before this it must begin: what it needs expires, or its deadline would pass. Nil for no such time.
    package var mustBeginBy: Timestamp?
    /// The pipeline's budget; the gate knows how much of it is used.
    package var budget: ResumeBudget

    package init(pipeline: String, since: Timestamp, mustBeginBy: Timestamp? = nil, budget: ResumeBudget) {
        self.pipeline = pipeline
        self.since = since
        self.mustBeginBy = mustBeginBy
        self.budget = budget
    }
}

/// All that a policy may look at.
package struct ConditionFacts: Sendable {
    package var question: ConditionQuestion
    package var conditions: DeviceConditions
    /// The number of resumes of the budget that are used.
    package var used: Int
    package var now: Timestamp

    package init(question: ConditionQuestion, conditions: DeviceConditions, used: Int, now: Timestamp) {
        self.question = question
        self.conditions = conditions
        self.used = used
        self.now = now
    }
}
