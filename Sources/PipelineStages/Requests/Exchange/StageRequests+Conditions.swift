import JSONPath
import PipelineCore
import PipelineHTTP

extension StageRequests {
    /// Returns whether a condition on an answer holds.
    func holds<Checkpoint>(
        _ expression: Expression, _ answer: ServiceResponse, in context: StageContext<Checkpoint>
    ) async throws(StageFailure) -> Bool {
        try await holds(expression, answer, isTolerant: false, in: context)
    }

    /// Returns whether a condition holds on an answer that may be a stranger's page. One that can't be put to it says
    /// nothing: a page of an unexpected status, or that is no JSON, has none of the members that are asked for.
    /// - Parameter isTolerant: true if one that can't be put to any other answer says nothing either.
    func holdsLeniently<Checkpoint>(
        _ expression: Expression, _ answer: ServiceResponse, of rendered: RenderedRequest, isTolerant: Bool = false,
        in context: StageContext<Checkpoint>
    ) async throws(StageFailure) -> Bool {
        let isExpected = try await isExpected(answer, of: rendered, in: context)
        return try await holds(
            expression, answer, isTolerant: isTolerant || !isExpected || expression.cannotRead(answer), in: context)
    }

    private func holds<Checkpoint>(
        _ expression: Expression, _ answer: ServiceResponse, isTolerant: Bool, in context: StageContext<Checkpoint>
    ) async throws(StageFailure) -> Bool {
        try await context.evaluate(with: { $0.response = answer.responseValue }) { scope throws(EvaluationFailure) in
            try EvaluationFailure.tolerated(isTolerant) { () throws(EvaluationFailure) in
                try expression.evaluateCondition(in: scope)
            } ?? false
        }
    }
}

extension EvaluationFailure {
    /// The result of an evaluation; nil where the values do not fit it and that is tolerated.
    static func tolerated<Value>(
        _ isTolerant: Bool, _ evaluation: () throws(EvaluationFailure) -> Value
    ) throws(EvaluationFailure) -> Value? {
        do throws(EvaluationFailure) {
            return try evaluation()
        } catch {
            guard isTolerant, case .wrong = error else { throw error }
            return nil
        }
    }
}

extension Expression {
    /// True if it looks at the status of the answer.
    var readsStatus: Bool { references.contains { $0.root == .response("status") } }

    /// True if the key of the submit stands in it.
    var readsOwnKey: Bool { references.contains { $0.root == .ownKey } }

    /// Returns whether it may say of an answer that what was asked for is missing. A service in trouble, or one that wants
    /// other credentials, says nothing about that: its page lacks what any page of an error lacks. A condition that looks at
    /// the status knows what it does.
    func mayFindMissing(in answer: ServiceResponse) -> Bool {
        let status = answer.judgedStatus
        return readsStatus || !StatusSet.trouble.contains(status) && !StatusSet.credentials.contains(status)
    }

    /// Returns whether it reads the body of an answer that is not JSON.
    func cannotRead(_ answer: ServiceResponse) -> Bool {
        references.contains { $0.root == .response("body") } && (try? answer.json()) == nil
    }
}

extension StatusSet {
    /// The statuses of a service in trouble, which say nothing of what was asked: 408, 425, 429 and 5xx.
    static let trouble = StatusSet([408...408, 425...425, 429...429, 500...999])
    /// The statuses of a service, or a proxy, that wants other credentials.
    static let credentials = StatusSet([401...401, 403...403, 407...407])
}
