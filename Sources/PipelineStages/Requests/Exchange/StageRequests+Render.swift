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
        if part == nil { try await rendered.checkFiles(in: context, service: service?.name) }
        await rendered.leaveOutEarlierResponses(in: context)
        return rendered
    }

    /// The role of a request that finds out what became of another one.
    static let look = "look"
}
