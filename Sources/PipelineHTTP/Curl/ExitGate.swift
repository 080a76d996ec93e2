import CLibrary
import Synchronization

/// Keeps the threads of transports out of libcurl once the process ends.
///
/// OpenSSL frees its tables in an exit handler (https://docs.openssl.org/3.0/man3/OPENSSL_init_crypto/), while a
/// transport that was just let go may still close its connections on its own thread: that read freed memory. The handler
/// of ``process`` is set after OpenSSL's, so that it runs before it.
final class ExitGate: Sendable {
    private struct State: Sendable {
        var isClosed = false
        var isArmed = false
        var inside = 0
    }

    /// The one of this process: its end is the same for all transports.
    static let process = ExitGate()

    private let state = Mutex(State())

    /// False once the process ends: then the caller must not touch libcurl any more.
    func enter() -> Bool {
        state.withLock { state in
            guard !state.isClosed else { return false }
            state.inside += 1
            return true
        }
    }

    func leave() { state.withLock { $0.inside -= 1 } }

    /// Lets nobody in any more, and waits for those inside, at most for two seconds: an exit must not hang.
    func close() {
        state.withLock { $0.isClosed = true }
        for _ in 0..<2000 where state.withLock({ $0.inside > 0 }) { usleep(1000) }
    }

    /// Sets the exit handler of the process's own gate, once; to be called when libcurl is initialised.
    static func arm() {
        let isFirst = process.state.withLock { state in
            defer { state.isArmed = true }
            return !state.isArmed
        }
        if isFirst { atexit { ExitGate.process.close() } }
    }

    /// Returns where a thread stays for the rest of the process.
    static func stay() -> Never {
        while true { pause() }
    }
}
