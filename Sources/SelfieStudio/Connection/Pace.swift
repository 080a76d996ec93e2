import NIOCore

/// Spreads what is read or written over time, so that a rate is not exceeded. Bound to one event loop.
final class Pace {
    private let rate: Int?
    private var due = NIODeadline.uptimeNanoseconds(0)
    private var scheduled: Scheduled<Void>?

    /// - Parameter rate: bytes per second, or nil for no limit.
    init(rate: Int?) {
        self.rate = rate
    }

    /// Takes bytes off the allowance.
    func spend(_ bytes: Int) {
        guard let rate, rate > 0 else { return }
        due = max(due, .now()) + .nanoseconds(Int64(Double(bytes) / Double(rate) * 1e9))
    }

    /// Runs the action when the rate allows it: now, or later; while one waits, another is dropped.
    func whenDue(on loop: any EventLoop, _ action: @escaping () -> Void) {
        guard scheduled == nil else { return }
        guard due > .now() else { return action() }
        scheduled = loop.assumeIsolated().scheduleTask(deadline: due) {
            self.scheduled = nil
            action()
        }
    }

    func stop() {
        scheduled?.cancel()
        scheduled = nil
    }
}
