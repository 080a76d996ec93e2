import PipelineCore

/// A message to an executor, from the calls of its stages, its timer and from outside.
enum ExecutorMessage: Sendable {
    /// A call of a stage has ended.
    case ended(StepKey, Result<StageOutcome<[UInt8]>, StageFailure>)
    /// A time has come at which something may be due.
    case tick(Timestamp)
    /// Something was said of a step's end that may move what was promised of the job's.
    case heard(StepKey)
    /// A step needs a round trip of its own for credentials.
    case authenticates(StepKey)
    /// The result of a notification that a sink was given, by its id.
    case delivered(String, Result<Void, NotificationFailure>)
    /// A person began to watch the job on a terminal.
    case watched
    /// A person attends to a job of the pipeline: what its delays hold back may begin.
    case delaysReset(pipeline: String)
    /// The journal's inbox may hold a request.
    case inbox
    /// Everything is to stop.
    case stop(StopRequest)
}

/// The purpose for which an executor takes its job up.
enum JobPurpose: Sendable, Hashable {
    case run
    /// To send what is left of its notifications.
    case notify
    /// To cancel it without a word to its services: no stage is called.
    case abandon
}
