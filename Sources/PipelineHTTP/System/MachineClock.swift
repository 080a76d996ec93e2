import CLibrary

/// The two clocks of the machine: the only place of this module that reads them.
enum MachineClock {
    static func sinceEpoch() -> Duration { read(CLOCK_REALTIME) }

    /// Never jumps; only differences mean something.
    static func monotonic() -> Duration { read(CLOCK_MONOTONIC) }

    private static func read(_ clock: clockid_t) -> Duration {
        var time = timespec()
        clock_gettime(clock, &time)
        return .seconds(Int64(time.tv_sec)) + .nanoseconds(Int64(time.tv_nsec))
    }
}
