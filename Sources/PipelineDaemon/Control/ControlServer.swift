import Dispatch
import CLibrary
import JSONPath
import PipelineKit

/// Answers requests on the control socket. Nothing runs while nobody asks; each connection has a thread for as long as
/// it lasts, since both ends block, with a time limit.
final class ControlServer: Sendable {
    /// Called on a thread of the connection; must return at once.
    typealias ServiceResponse = @Sendable (ControlRequest) -> JSON

    private let descriptor: Int32
    private let answer: ServiceResponse
    private let refused: @Sendable (UInt32?) -> Void
    /// Kept so that it lives; only made and cancelled.
    nonisolated(unsafe) private let source: any DispatchSourceRead
    private let connections = DispatchQueue(label: "pipeline.daemon.control", attributes: .concurrent)

    /// - Parameters:
    ///   - descriptor: a socket that listens; it is closed by ``close()``.
    ///   - refused: called with the user of each connection that is refused, for it is not this process's.
    init(descriptor: Int32, answer: @escaping ServiceResponse, refused: @escaping @Sendable (UInt32?) -> Void) {
        self.descriptor = descriptor
        self.answer = answer
        self.refused = refused
        source = DispatchSource.makeReadSource(
            fileDescriptor: descriptor, queue: DispatchQueue(label: "pipeline.daemon.control.accepting"))
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        source.setEventHandler { [weak self] in self?.accept() }
        source.setCancelHandler { [descriptor] in _ = CLibrary.close(descriptor) }
    }

    func start() { source.activate() }

    /// Takes no more connections; those that are open are answered to their end.
    func close() { source.cancel() }

    private func accept() {
        while true {
            let connection = CLibrary.accept(descriptor, nil, nil)
            if connection < 0 {
                if errno == EINTR || errno == ECONNABORTED { continue }
                // Without room for another descriptor the socket stays readable: not at once again.
                if errno == EMFILE || errno == ENFILE || errno == ENOMEM { usleep(20_000) }
                return
            }
            _ = fcntl(connection, F_SETFD, FD_CLOEXEC)
            connections.async { [self] in serve(connection) }
        }
    }

    private func serve(_ connection: Int32) {
        var channel = ControlChannel(descriptor: connection)
        guard channel.isOfThisUser else {
            refused(channel.peer)
            _ = channel.send(["error": "the background owner serves the user alone who started it"])
            return
        }
        while let message = channel.receive() {
            let reply =
                ControlRequest(json: message).map(answer)
                ?? [
                    "error": "the background owner does not know this request", "hint": "it may be of an older version",
                ]
            guard channel.send(reply) else { return }
        }
    }
}
