import JSONPath
import PipelineCore

/// Gives notifications of one job to their sinks; whatever a sink does changes nothing for the job.
struct NotificationCourier: Sendable {
    let sinks: any NotificationSinks
    let plan: Plan
    let job: JobRecord

    /// Gives one to its sink; nil when the document has no such entry any more. Runs on the concurrent executor, never on
    /// one of a job: a sink may do what it likes.
    @concurrent func deliver(
        _ record: NotificationRecord, in scope: Scope
    ) async -> Result<Void, NotificationFailure>? {
        let definition = plan.definition
        guard definition.notifications.indices.contains(record.entry) else { return nil }
        do throws(NotificationFailure) {
            let sink = try await sinks.sink(
                of: definition.notifications[record.entry], in: scope, source: definition.source)
            return .success(try await sink.deliver(record.notification(of: job.id, pipeline: job.pipeline)))
        } catch {
            return .failure(error)
        }
    }
}
