import PipelineCore

/// A sleep that can be ended early; one for each time that is waited for.
struct CancellableTimer: Sendable {
    private let flag = CancellationFlag()

    /// Ends the sleep; from any thread, any number of times.
    func stop() { flag.raise() }

    /// Returns whether the time came before ``stop()``.
    func sleep(until time: Timestamp, by clock: any WallClock) async -> Bool {
        await withTaskGroup(of: Bool.self) { group in
            group.addTask { (try? await clock.sleep(until: time)) != nil }
            group.addTask { [flag] in
                await flag.raised()
                return false
            }
            let hasCome = await group.next() ?? false
            group.cancelAll()
            return hasCome
        }
    }
}
