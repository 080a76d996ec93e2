/// Decides whether a moment is good, from the standard policies.
package enum ConditionEvaluator {
    /// The number that the weighted mean of the scores must reach.
    private static let threshold = 0.5
    /// The time until it is asked again when no policy can say.
    private static let interval = Duration.seconds(900)

    /// Asks every policy: one "must proceed" decides; else one "must not proceed" is a veto; else the weighted mean of
    /// the scores must reach the threshold.
    package static func judge(_ facts: ConditionFacts) -> ConditionEvaluation {
        let verdicts = ConditionPolicy.standard.map { policy in
            ConditionEvaluation.Verdict(policy: policy.name, weight: policy.weight, opinion: policy.judge(facts))
        }
        let known = verdicts.filter { $0.opinion.score != nil }
        let weights = known.reduce(0) { $0 + $1.weight }
        let sum = known.reduce(0) { $0 + $1.weight * ($1.opinion.score ?? 0) }
        let mean = weights > 0 ? sum / weights : 1
        let decisions = verdicts.map(\.opinion.decision)
        let isGood =
            decisions.contains(.mustProceed) || !decisions.contains(.mustNotProceed) && mean >= threshold
        let changes = verdicts.compactMap(\.opinion.changes).filter { $0 > facts.now }
        let again = ([facts.now + interval] + changes).min() ?? facts.now + interval
        return ConditionEvaluation(
            verdicts: verdicts, score: mean, threshold: threshold, isGood: isGood, asked: facts.now,
            askAgain: isGood ? nil : again)
    }
}
