import CLibrary
import Dispatch

/// Waits for SIGTERM, SIGINT, or the end of standard input.
final class StopSignals {
    private let stops: AsyncStream<Void>
    private let sources: [any DispatchSourceSignal]

    /// - Parameter watchingInput: whether the end of standard input is a reason to stop; what comes before is dropped.
    init(watchingInput: Bool) {
        let (stops, stop) = AsyncStream.makeStream(of: Void.self)
        self.stops = stops
        let registered = DispatchSemaphore(value: 0)
        sources = [SIGTERM, SIGINT].map { number in
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { stop.yield() }
            source.setRegistrationHandler { registered.signal() }
            signal(number, SIG_IGN)
            source.activate()
            return source
        }
        // An ignored signal that nobody watches yet is lost for good.
        for _ in sources { registered.wait() }
        guard watchingInput else { return }
        // A blocking read in a thread of its own works with pipes, terminals, files and /dev/null alike.
        DispatchQueue(label: "selfie-studio.standard-input").async {
            var buffer = [UInt8](repeating: 0, count: 4096)
            while true {
                let count = read(0, &buffer, buffer.count)
                if count == 0 || (count < 0 && errno != EINTR) { break }
            }
            stop.yield()
        }
    }

    func wait() async {
        for await _ in stops { return }
    }
}
