/// One thing that makes a moment good or bad for work that can wait: a name, a weight, and a pure judgement.
package struct ConditionPolicy: Sendable {
    /// The decision of one policy by itself.
    package enum Decision: String, Sendable, Hashable, CaseIterable {
        /// It has waited long enough: no veto holds any more.
        case mustProceed
        case mayProceed
        /// It would rather wait; others may outweigh it.
        case shouldWait
        /// A veto.
        case mustNotProceed
    }

    /// A policy's view of a moment.
    package struct Opinion: Sendable, Hashable {
        /// From 0, bad, to 1, good; nil when the policy knows nothing and counts for nothing.
        package let score: Double?
        package let decision: Decision
        /// One clause.
        package let rationale: String
        /// The time when the policy may see it otherwise; nil when it can't tell.
        package let changes: Timestamp?

        package init(_ score: Double?, _ decision: Decision, _ rationale: String, changes: Timestamp? = nil) {
            self.score = score.map { min(max($0, 0), 1) }
            self.decision = decision
            self.rationale = rationale
            self.changes = changes
        }
    }

    package let name: String
    package let weight: Double
    package let judge: @Sendable (ConditionFacts) -> Opinion

    package init(name: String, weight: Double, judge: @escaping @Sendable (ConditionFacts) -> Opinion) {
        self.name = name
        self.weight = weight
        self.judge = judge
    }
}
