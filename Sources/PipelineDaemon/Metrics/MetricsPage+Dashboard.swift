import PipelineCore
import PipelineDashboard
import PipelineMetrics
import PipelineServer

extension MetricsPage {
    /// Answers `/metrics` on the dashboard's listener, to those who were let in.
    @Sendable func answer(_ request: IncomingRequest) async -> DashboardResponse {
        do throws(JournalFailure) {
            let (type, body) = try await response(accept: request.values("Accept").joined(separator: ","))
            return DashboardResponse(type: type, body: .bytes(Array(body.utf8)))
        } catch {
            return DashboardResponse(
                status: 500, type: "text/plain; charset=utf-8",
                body: .bytes(Array("the journal can't be read: \(error)\n".utf8)))
        }
    }
}
