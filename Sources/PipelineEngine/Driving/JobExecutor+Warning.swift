import JSONPath
import PipelineCore

extension JobExecutor {
    /// Publishes a warning of a step that goes on.
    func warn(_ key: StepKey, _ message: String, attempt: Int) async throws(JournalFailure) {
        let data: JSONObject = ["message": .string(redactor.redact(message))]
        try await commit([
            .event(
                JobEvent(
                    sequence: snapshot.sequence + 1, time: ports.clock.now, kind: .stageWarned, job: snapshot.record.id,
                    pipeline: snapshot.record.pipeline, step: key, attempt: attempt, data: data))
        ])
    }
}
