import PipelineCore

extension StageRequests {
    /// Returns whether a condition on an answer holds.
    func holds<Checkpoint>(
        _ expression: Expression, _ answer: ServiceResponse, in context: StageContext<Checkpoint>
    ) async throws(StageFailure) -> Bool {
        try await context.evaluate(with: { $0.response = answer.responseValue }) { scope throws(EvaluationFailure) in
            try expression.evaluateCondition(in: scope)
        }
    }
}
