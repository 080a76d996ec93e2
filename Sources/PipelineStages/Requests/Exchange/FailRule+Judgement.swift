import PipelineCore

extension FailRule {
    /// Returns what is said of the answer in a scope, and whether another try may help; nil where the condition does not
    /// hold. One that is tolerated not to fit the answer does not hold then; its message is left out where that does not fit.
    func judgement(
        in scope: Scope, isTolerant: Bool, of name: String
    ) throws(EvaluationFailure) -> (text: String, allowsRetry: Bool)? {
        let holds = try EvaluationFailure.tolerated(isTolerant) { () throws(EvaluationFailure) in
            try condition.evaluateCondition(in: scope)
        }
        guard holds == true else { return nil }
        let text = try EvaluationFailure.tolerated(isTolerant) { () throws(EvaluationFailure) in
            try message?.evaluateText(in: scope)
        }
        let said = text.flatMap(\.self) ?? "\(name) gave an answer for which \(condition.text)"
        return (said, try allowsRetry.value(in: scope))
    }
}
