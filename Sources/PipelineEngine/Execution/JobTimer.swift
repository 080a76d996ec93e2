import PipelineCore

/// One timer for all that a job waits for.
struct JobTimer {
    private var armed: (time: Timestamp, timer: CancellableTimer)?

    /// Has the mailbox told of the time, in place of the one before.
    mutating func arm(
        _ time: Timestamp, by clock: any WallClock, _ mailbox: Mailbox<ExecutorMessage>,
        _ group: inout DiscardingTaskGroup
    ) {
        if armed?.time == time { return }
        armed?.timer.stop()
        let timer = CancellableTimer()
        armed = (time, timer)
        group.addTask { if await timer.sleep(until: time, by: clock) { mailbox.post(.tick(time)) } }
    }

    /// Notes that the mailbox was told of the time.
    mutating func end(_ time: Timestamp) { if armed?.time == time { armed = nil } }

    func stop() { armed?.timer.stop() }
}
