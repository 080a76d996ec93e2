import Dispatch
import Glibc

/// SIGTERM and SIGINT as a stream of one wish to stop; a second signal ends the process at once, and loses nothing.
final class DaemonSignals: Sendable {
    let wishes: AsyncStream<Void>
    /// Kept so that the sources live; only made and dropped, never changed.
    nonisolated(unsafe) private let sources: [any DispatchSourceSignal]

    init() {
        let (stream, continuation) = AsyncStream<Void>.makeStream()
        wishes = stream
        let queue = DispatchQueue(label: "pipeline.daemon.signals")
        sources = [SIGINT, SIGTERM].map { number in
            signal(number, SIG_IGN)
            return DispatchSource.makeSignalSource(signal: number, queue: queue)
        }
        signal(SIGPIPE, SIG_IGN)
        signal(SIGHUP, SIG_IGN)
        let count = Moment()
        for source in sources {
            source.setEventHandler {
                let now = DispatchTime.now().uptimeNanoseconds
                if count.first == nil {
                    count.first = now
                    continuation.yield()
                } else if let first = count.first, now - first > 100_000_000 {
                    // Within a tenth of a second it is the same wish, sent to a process and to its group.
                    _exit(130)
                }
            }
            source.activate()
        }
    }

    /// `@unchecked`: only touched on the queue of the sources.
    private final class Moment: @unchecked Sendable { var first: UInt64? }
}
