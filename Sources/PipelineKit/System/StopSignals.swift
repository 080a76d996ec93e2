import Dispatch
import CLibrary
import Synchronization

/// SIGINT and SIGTERM: the first asks to stop, the second ends the process at once with status 130, and loses nothing:
/// what counts is on disk.
///
/// SIGHUP, by which a terminal that is closed says so, asks to stop too, unless it is ignored, as under nohup(1). So does
/// a reader that closes its end of our output, as head(1) does: SIGPIPE would cut off submits.
///
/// What comes within a tenth of a second of the first is the same wish: timeout(1) and some shells signal both a
/// process and its group. From the return of the initialiser on no signal is missed.
package final class StopSignals: Sendable {
    /// Those that are heard now.
    private static let current = Mutex<StopSignals?>(nil)

    private let received = Atomic<Int>(0)
    private let numbers: [Int32]
    private let stop: @Sendable () -> Void
    private let lastWords: [UInt8]
    /// The time when the first SIGINT or SIGTERM came, in nanoseconds of the machine's uptime; 0 before it.
    private let first = Atomic<UInt64>(0)
    /// Kept so that the sources live; only made and dropped, never changed.
    nonisolated(unsafe) private let sources: [any DispatchSourceSignal]

    /// The number of signals that came.
    package var count: Int { received.load(ordering: .relaxed) }

    /// - Parameters:
    ///   - line: what is said at the second, if anything.
    ///   - stop: called once, on a thread of the system's.
    package init(leaving line: String? = nil, stop: @escaping @Sendable () -> Void) {
        self.stop = stop
        lastWords = Array((line.map { "\(isatty(STDERR_FILENO) == 1 ? "\n" : "")\($0)\n" } ?? "").utf8)
        numbers = [SIGINT, SIGTERM] + (Self.isIgnored(SIGHUP) ? [] : [SIGHUP])
        sources = numbers.map { DispatchSource.makeSignalSource(signal: $0, queue: .global()) }
        let registered = DispatchSemaphore(value: 0)
        for (number, source) in zip(numbers, sources) {
            source.setEventHandler { [self] in take(number) }
            source.setRegistrationHandler { registered.signal() }
            // Dispatch takes over what is ignored; what nobody ignores ends the process all the same.
            signal(number, SIG_IGN)
            source.activate()
        }
        // An ignored signal that nobody watches yet is lost for good.
        for _ in numbers { registered.wait() }
        signal(SIGPIPE, SIG_IGN)
        Self.current.withLock { $0 = self }
    }

    /// Whoever read our output has closed it: asks those that are heard to stop, if that is not done yet.
    package static func readerLeft() {
        guard let current = current.withLock(\.self) else { return }
        // As a signal comes: not under the locks of the one who wrote.
        DispatchQueue.global().async { current.take(SIGPIPE) }
    }

    private func take(_ number: Int32) {
        if received.add(1, ordering: .relaxed).newValue == 1 { stop() }
        // A terminal that is closed and a reader that leaves say nothing twice, and are nobody's first wish.
        guard number == SIGINT || number == SIGTERM else { return }
        let now = DispatchTime.now().uptimeNanoseconds
        let begin = first.compareExchange(expected: 0, desired: now, ordering: .relaxed).original
        if begin != 0, now - begin > 100_000_000 {
            _ = write(STDERR_FILENO, lastWords, lastWords.count)
            _exit(130)
        }
    }

    /// From now on they end the process again.
    package func end() {
        Self.current.withLock { if $0 === self { $0 = nil } }
        for source in sources { source.cancel() }
        for number in numbers { signal(number, SIG_DFL) }
    }

    private static func isIgnored(_ number: Int32) -> Bool {
        var current = sigaction()
        guard sigaction(number, nil, &current) == 0 else { return false }
        return unsafeBitCast(current.__sigaction_handler.sa_handler, to: Int.self) == 1
    }
}
