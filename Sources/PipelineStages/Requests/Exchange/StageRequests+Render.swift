import PipelineCore
import PipelineHTTP

extension StageRequests {
    /// Puts the values into a request, secrets included: done again for each send, kept nowhere.
    ///
    /// - Parameters:
    ///   - role: tells requests of one step apart that carry an idempotency key; nil for the one that the step is about.
    ///   - part: the bytes that `"part": true` stands for.
    ///   - adjust: adds what only the stage knows to the values of expressions.
    func render<Checkpoint>(
        _ definition: RequestDefinition, in context: StageContext<Checkpoint>, role: String? = nil,
        part: BodySegment? = nil, adjust: (inout Scope) -> Void = { _ in }
    ) async throws(StageFailure) -> RenderedRequest {
        let isTraced = service?.isTraced == true
        let trace = isTraced ? TraceIdentity(context.facts.job).parent(context.facts.step) : nil
        var rendered = try await context.evaluate(with: adjust) { scope throws(EvaluationFailure) in
            var scope = scope
            scope.partDigest = part?.digester
            return try RequestRendering(
                definition: definition, requests: self, scope: scope, part: part, trace: trace
            ).rendered(role: role)
        }
        rendered.role = role
        // A question is asked anew each time: under one key a service gives its first response again.
        if role == Self.look || role == ExchangeRecord.poll {
            rendered.decorators.removeAll { $0 is IdempotencyKey }
        }
        // What became of something is asked of the service: what it said before that was sent knows nothing of it.
        if role == Self.look { rendered.decorators.removeAll { $0 is Cache } }
        return rendered
    }

    /// The role of a request that finds out what became of another one.
    static let look = "look"
}
