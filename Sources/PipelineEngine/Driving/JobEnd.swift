public import PipelineCore

/// How the driving of a job came to its end.
public enum JobEnd: Sendable, Hashable {
    /// The job has ended: succeeded, failed or cancelled.
    case ended(JobPhase)
    /// It was let go unfinished.
    case suspended(SuspensionCause)
    /// A submit must be settled by a person.
    case unknown
    /// All that is left of it for now is to wait: for the time, or for something from outside. It is still owned, and
    /// nothing of it is in memory.
    case parked(until: Timestamp?)
    /// Another owner has it by now.
    case lost
}
