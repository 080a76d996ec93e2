/// A message of a job's owner to those who watch the job from other processes. Any of it may be lost.
package enum JournalSignal: Sendable, Hashable {
    /// The journal has something new of the job.
    case changed(JobID)
    /// An event that the journal does not keep: progress, an estimate.
    case event(JobEvent)
}
