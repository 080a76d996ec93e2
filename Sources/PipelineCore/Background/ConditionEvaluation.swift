package import JSONPath

/// The judgement whether a moment is good for work that can wait, and why: the engine acts on it, and `pipeline why`
/// prints.
package struct ConditionEvaluation: Sendable, Hashable {
    package struct Verdict: Sendable, Hashable {
        package let policy: String
        package let weight: Double
        package let opinion: ConditionPolicy.Opinion
    }

    package let verdicts: [Verdict]
    /// The weighted mean of the scores that are known.
    package let score: Double
    package let threshold: Double
    package let isGood: Bool
    package let asked: Timestamp
    /// The time when it is asked again; nil when the moment is good.
    package private(set) var askAgain: Timestamp?

    /// One clause: the vetoes, or the score.
    package var rationale: String {
        let vetoes = verdicts.filter { $0.opinion.decision == .mustNotProceed }.map(\.opinion.rationale)
        if let forced = verdicts.first(where: { $0.opinion.decision == .mustProceed }) {
            return forced.opinion.rationale
        }
        if !vetoes.isEmpty { return vetoes.joined(separator: ", ") }
        return "the moment scores \(Self.rounded(score)) of the \(Self.rounded(threshold)) that it needs"
    }

    /// Returns the same, with the time at which who put the step off asks again, whatever is judged meanwhile.
    package func askedAgain(at time: Timestamp) -> ConditionEvaluation {
        var judgement = self
        judgement.askAgain = time
        return judgement
    }

    /// One line for each policy, the sum and the decision, for people.
    package var lines: [String] {
        let policies = verdicts.map { verdict in
            let score = verdict.opinion.score.map { "\(Self.rounded($0))" } ?? "-"
            return "\(verdict.policy): weight \(Self.rounded(verdict.weight)), score \(score), "
                + "\(verdict.opinion.decision.rawValue): \(verdict.opinion.rationale)"
        }
        let end = "sum: \(Self.rounded(score)) of \(Self.rounded(threshold)): " + (isGood ? "it proceeds" : "it waits")
        return policies + [end] + (askAgain.map { ["asked again at: \($0)"] } ?? [])
    }

    /// The form of `why --json`.
    package var json: JSON {
        let policies = verdicts.map { verdict -> JSON in
            [
                "policy": .string(verdict.policy), "weight": .number(JSONNumber(verdict.weight)),
                "score": verdict.opinion.score.map { .number(JSONNumber(Self.rounded($0))) } ?? .null,
                "decision": .string(verdict.opinion.decision.rawValue),
                "rationale": .string(verdict.opinion.rationale),
            ]
        }
        return [
            "policies": .array(policies), "score": .number(JSONNumber(Self.rounded(score))),
            "threshold": .number(JSONNumber(threshold)), "proceeds": .bool(isGood),
            "askAgain": JSON(askAgain?.description),
        ]
    }

    private static func rounded(_ value: Double) -> Double { (value * 100).rounded() / 100 }
}
