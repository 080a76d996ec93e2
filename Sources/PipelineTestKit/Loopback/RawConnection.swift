import CLibrary
import Dispatch

/// A connection to a server on loopback, whose bytes the test writes itself; closed when nobody holds it.
///
/// What waits for the other side has a thread of its own: a test shares the cooperative ones with the server under test,
/// and on a machine with few processors would keep it from answering.
package final class RawConnection: Sendable {
    /// There is nobody at the port.
    package struct Refused: Error {}

    private let descriptor: Int32
    private let queue = DispatchQueue(label: "raw-connection")
    /// The bytes that came and were not asked for yet; only the queue touches it.
    private nonisolated(unsafe) var pending: [UInt8] = []

    /// - Parameter patience: the longest time to wait for bytes; after it the other side counts as ended. Forever if nil.
    package init(port: Int, patience: Duration? = nil) throws {
        guard let descriptor = LoopbackServer.connection(to: UInt16(port)) else { throw Refused() }
        self.descriptor = descriptor
        if let patience {
            var time = timeval(tv_sec: Int(patience.components.seconds), tv_usec: 0)
            setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
        }
    }

    deinit { close(descriptor) }

    package func send(_ text: String) { send(Array(text.utf8)) }

    /// Sends as much as the other side takes before it closes.
    package func send(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { LoopbackServer.systemSend(descriptor, $0) }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }

    /// Says that nothing more is sent.
    package func endSending() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// Returns what comes until the other side ends.
    package func rest() async -> String {
        await waiting {
            while self.receive() {}
            return String(decoding: self.pending, as: UTF8.self)
        }
    }

    /// Sends bytes, and returns those that come until the other side ends.
    package func exchange(_ bytes: [UInt8], endsSending: Bool) async -> [UInt8] {
        await waiting {
            self.send(bytes)
            if endsSending { self.endSending() }
            while self.receive() {}
            return self.pending
        }
    }

    /// Returns what comes up to the text, and with it; nil when the other side ends before.
    package func text(through end: String) async -> String? {
        await waiting {
            repeat {
                let text = String(decoding: self.pending, as: UTF8.self)
                guard let range = text.firstRange(of: end) else { continue }
                self.pending = Array(text[range.upperBound...].utf8)
                return String(text[..<range.upperBound])
            } while self.receive()
            return nil
        }
    }

    private func waiting<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
        await withCheckedContinuation { continuation in queue.async { continuation.resume(returning: body()) } }
    }

    /// Takes the next bytes; false at the end.
    private func receive() -> Bool {
        var piece = [UInt8](repeating: 0, count: 65536)
        let count = recv(descriptor, &piece, piece.count, 0)
        if count > 0 { pending += piece[..<count] }
        return count > 0
    }
}
