import Dispatch
import Glibc
import Synchronization

/// SIGINT and SIGTERM: the first asks to stop, the second quits at once (and loses nothing: what counts is on disk).
///
/// What comes within a tenth of a second of the first is the same wish: timeout(1) and some shells signal both a
/// process and its group.
final class StopSignals: Sendable {
    private let received = Atomic<Int>(0)
    /// When the first came, in nanoseconds of the machine's uptime.
    private let first = Atomic<UInt64>(0)
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
                let now = DispatchTime.now().uptimeNanoseconds
                if received.add(1, ordering: .relaxed).newValue == 1 {
                    first.store(now, ordering: .relaxed)
                    stop()
                } else if now - first.load(ordering: .relaxed) > 100_000_000 {
                    _exit(ExitStatus.interrupted.rawValue)
                }
            }
            source.activate()
        }
    }
}
