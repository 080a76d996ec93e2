import CLibrary
package import PipelineCore

/// The machine's time of day, and the time since it was started.
package struct SystemClock: WallClock {
    package init() {}

    package var now: Timestamp {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
    }

    /// CLOCK_BOOTTIME of clock_gettime(2).
    package var elapsed: Duration {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return .seconds(Int64(time.tv_sec)) + .nanoseconds(Int64(time.tv_nsec))
    }

    package func sleep(until time: Timestamp) async throws(CancellationError) { try await sleepInSlices(until: time) }
}

extension WallClock {
    /// Waits as ``WallClock/sleep(until:)`` says, by the machine's timers.
    func sleepInSlices(until time: Timestamp) async throws(CancellationError) {
        let begin = reading
        while true {
            let left = begin.left(until: time, at: reading)
            if left <= .zero { return }
            // In slices: the clock can be set forward, and timers stand still while the machine sleeps.
            do {
                try await Task.sleep(for: min(left, Duration.seconds(30)), clock: .continuous)
            } catch {
                throw CancellationError()
            }
        }
    }
}

/// The kernel's random numbers.
package struct SystemRandomness: Randomness {
    package init() {}

    package func bits() -> UInt64 {
        var generator = SystemRandomNumberGenerator()
        return generator.next()
    }
}

/// Kills the process at the point that `PIPELINE_CRASH_AT=POINT[:N]` names, the N-th time it passes there.
///
/// For tests of what a crash leaves behind; in release builds too, since those are what is tested.
package final class SignalCrashProbe: CrashProbe {
    private let point: CrashPoint
    private let count: Int
    private let passes = AtomicCount()

    /// The probe that the variable asks for; nil when it asks for none, or for a point that does not exist.
    package init?(_ text: String?) {
        guard let parts = text?.split(separator: ":", maxSplits: 1), let name = parts.first,
            let point = CrashPoint(rawValue: String(name))
        else { return nil }
        self.point = point
        count = parts.count > 1 ? Int(parts[1]) ?? 1 : 1
    }

    package func pass(_ passed: CrashPoint) {
        guard passed == point, passes.next() == count else { return }
        kill(getpid(), SIGKILL)
        // The signal is on its way to this very process: nothing more may be done.
        while true { pause() }
    }
}

/// A probe that never kills.
package struct NoCrashProbe: CrashProbe {
    package init() {}
    package func pass(_ point: CrashPoint) {}
}
