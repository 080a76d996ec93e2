import Crypto
import PipelineCore
import PipelineTestKit
import Synchronization

@testable import PipelineStages

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
    /// What becomes of requests before the service itself sees them, as with a gateway.
    struct Gateway: Sendable {
        /// Requests, by their numbers from 1, that it takes whole and answers with a status of its own.
        var errors: [Int: Int] = [:]
        /// True if it answers 422 to a body that is not that of its `Content-Digest`.
        var checksDigests = false
        /// What is done when the next request of a method comes.
        var onNext: [String: @Sendable () -> Void] = [:]
        /// Bytes of bodies that came to nothing by that.
        var refused: Int64 = 0
    }

    private let server = Mutex<LoopbackServer?>(nil)
    private let gateway = Mutex(Gateway())

    deinit { server.withLock { $0?.stop() } }

    var url: String { server.withLock { $0?.url ?? "" } }
    var requests: [ReceivedRequest] { server.withLock { $0?.requests ?? [] } }
    /// What came, for messages.
    var story: String { requests.map { "\($0.method) \($0.target) \($0.bodyCount)" }.joined(separator: ", ") }
    var refused: Int64 { gateway.withLock(\.refused) }

    func onNext(_ method: String, _ act: @escaping @Sendable () -> Void) {
        gateway.withLock { $0.onNext[method] = act }
    }

    func change(_ change: (inout Gateway) -> Void) { gateway.withLock { change(&$0) } }

    func start(for service: some LoopbackService) throws {
        let made = try LoopbackServer.beforeBody(keptBodyBytes: 64 << 20) { [weak self, weak service] request in
            guard let self, let service else { return .status(500) }
            return answer(request) { service.answer($0) }
        }
        server.withLock { $0 = made }
    }

    private func answer(
        _ request: ReceivedRequest, _ service: @escaping @Sendable (ReceivedRequest) -> ScriptedAnswer
    ) -> ScriptedAnswer {
        gateway.withLock { $0.onNext.removeValue(forKey: request.method) }?()
        let (error, checks) = gateway.withLock { ($0.errors[request.number], $0.checksDigests) }
        if let error { return refuse(request, error) }
        guard checks, let field = request.header("Content-Digest") else { return service(request) }
        return ScriptedAnswer([
            .readBody,
            .then { whole in
                let digest = "sha-256=:\(Base64Bytes.encode(SHA256.hash(data: whole.body))):"
                return digest == field ? service(whole) : self.refuse(request, 422)
            },
        ])
    }

    private func refuse(_ request: ReceivedRequest, _ status: Int) -> ScriptedAnswer {
        gateway.withLock { $0.refused += request.contentLength }
        return .status(status, headers: [("Retry-After", "0")], body: #"{"error": "not now"}"#)
    }
}
