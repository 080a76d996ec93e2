import JSONPath
import PipelineCore

/// The captures that a compute stage itself reads, such as the address of the next poll: taken from each answer that says
/// that the job runs, and not only from the last.
struct CarriedCaptures: Sendable {
    private let roots: [Reference.Root]

    init(readBy uses: [ReferenceUse]) { roots = uses.map(\.reference.root) }

    private func isRead(_ name: String) -> Bool { roots.contains(.own(name)) || roots.contains(.own(nil)) }

    /// The values of an answer that says that the job runs; one that it lacks stays as it was.
    func values(of captures: CaptureSet, in answer: ServiceResponse) -> JSONObject {
        CaptureSet(captures.entries.filter { isRead($0.name) }).valuesPresent(in: answer)
    }

    /// Makes them captures of the stage. After a crash before that the answer before counts, and the same is asked again.
    func keep(
        _ values: JSONObject, _ checkpoint: ComputeCheckpoint, in context: ComputeStage.Context
    ) async throws(StageFailure) {
        if values.isEmpty { return }
        let isNew = try await context.evaluate { scope throws(EvaluationFailure) in
            values.contains { scope.own[$0.name] != $0.value }
        }
        if isNew { try await context.commit(checkpoint, captures: values) }
    }

    /// Null for each value that the polls of a job before took: it says nothing of the next job.
    func void(of polls: [CaptureSet], in context: ComputeStage.Context) async throws(StageFailure) -> JSONObject {
        let names = polls.flatMap(\.names).filter(isRead)
        if names.isEmpty { return [:] }
        return try await context.evaluate { scope throws(EvaluationFailure) in
            JSONObject(names.filter { scope.own[$0] != nil }.map { ($0, JSON.null) })
        }
    }
}
