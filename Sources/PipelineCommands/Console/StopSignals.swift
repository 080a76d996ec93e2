import Dispatch
import Glibc
import Synchronization

/// SIGINT and SIGTERM: the first asks to stop, the second quits at once (and loses nothing: what counts is on disk).
final class StopSignals: Sendable {
    private let received = Atomic<Int>(0)
    /// Kept so that the sources live; only made and dropped, never changed.
    nonisolated(unsafe) private let sources: [any DispatchSourceSignal]

    /// How many came.
    var count: Int { received.load(ordering: .relaxed) }

    init(stop: @escaping @Sendable () -> Void) {
        sources = [SIGINT, SIGTERM].map { number in
            signal(number, SIG_IGN)
            return DispatchSource.makeSignalSource(signal: number, queue: .global())
        }
        for source in sources {
            source.setEventHandler { [self] in
                if received.add(1, ordering: .relaxed).newValue == 1 { stop() } else { _exit(ExitStatus.interrupted.rawValue) }
            }
            source.activate()
        }
    }
}
