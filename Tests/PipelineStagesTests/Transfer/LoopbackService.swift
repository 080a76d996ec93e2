import PipelineTestKit
import Synchronization

/// A service on loopback that a test scripts: how it answers is the conformer's, all else is here.
protocol LoopbackService: AnyObject, Sendable {
    var server: ServiceServer { get }
    /// Called on the connection's thread when the head of a request is there, before its body is read.
    func answer(_ request: ReceivedRequest) -> ScriptedAnswer
}

extension LoopbackService {
    var url: String { server.url }
    var requests: [ReceivedRequest] { server.requests }
}

/// The server of a scripted service, stopped with it.
final class ServiceServer: Sendable {
    private let server = Mutex<LoopbackServer?>(nil)

    deinit { server.withLock { $0?.stop() } }

    var url: String { server.withLock { $0?.url ?? "" } }
    var requests: [ReceivedRequest] { server.withLock { $0?.requests ?? [] } }

    func start(for service: some LoopbackService) throws {
        let made = try LoopbackServer.beforeBody(keptBodyBytes: 64 << 20) { [weak service] request in
            service?.answer(request) ?? .status(500)
        }
        server.withLock { $0 = made }
    }
}
