import PipelineCore
package import PipelineKit
package import PipelineServer

/// A dashboard that is being served.
package struct DashboardService: Sendable {
    let dashboard: Dashboard
    private let listener: DashboardListener

    /// Listens and serves; throws when the address can't be had.
    ///
    /// - Parameter metrics: what `/metrics` answers to those who were let in.
    package static func start(
        _ workspace: Workspace, journal: Workspace.Journal, options: DashboardOptions,
        actions: (any JobActions)? = nil,
        metrics: (@Sendable (IncomingRequest) async -> DashboardResponse)? = nil
    ) async throws -> DashboardService {
        let address = try ListenAddress(parsing: options.listen)
        let made = DashboardBox()
        let listener = try await DashboardListener.start(at: address) { request in
            guard let dashboard = made.dashboard else { return (.text("not yet", status: 503), false) }
            return await dashboard.answer(request)
        }
        let dashboard: Dashboard
        do throws(JournalFailure) {
            dashboard = try Dashboard(
                workspace, journal: journal, options: options, host: address.host, port: listener.port,
                actions: actions ?? ProgramActions(settings: workspace.settings), metrics: metrics)
        } catch {
            await listener.stop()
            throw error
        }
        made.dashboard = dashboard
        return DashboardService(dashboard: dashboard, listener: listener)
    }

    /// A link that signs in who opens it first, within ten minutes.
    package func link() -> String { dashboard.link() }

    /// The address of the pages.
    package var address: String { dashboard.address }

    package var port: Int { listener.port }

    package func stop() async { await listener.stop() }
}
