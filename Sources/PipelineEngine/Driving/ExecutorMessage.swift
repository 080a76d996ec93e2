import PipelineCore

/// What reaches a driver from its stages, its timer and from outside.
enum ExecutorMessage: Sendable {
    /// A call of a stage has ended.
    case ended(StepKey, Result<StageOutcome<[UInt8]>, StageFailure>)
    /// A moment has come at which something may be due.
    case tick(Timestamp)
    /// Something was said of a step's end that may move what was promised of the job's.
    case heard
    /// A step needs a round trip of its own for credentials.
    case authenticates(StepKey)
    /// What became of a notification that a sink was given, by its id.
    case told(String, Result<Void, NotificationFailure>)
    /// A person began to watch the job on a terminal.
    case watched
    /// A person attends to a job of the pipeline: what its delays hold back may begin.
    case fellBack(pipeline: String)
    /// The journal's inbox may hold a request.
    case inbox
    /// Everything is to stop.
    case stop(StopRequest)
}

/// How a job is to stop before its end.
enum StopRequest: Sendable, Hashable {
    case suspend(SuspensionCause)
    /// Its owner ends, and the next background owner goes on.
    case leave
    case cancel
}

/// What a driver takes its job up for.
enum DriverDuty: Sendable, Hashable {
    case drive
    /// To send what is left of its notifications.
    case tell
    /// To cancel it without a word to its services: no stage is called.
    case end
}
