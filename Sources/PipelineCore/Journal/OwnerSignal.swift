/// A person's attention, as the owner of jobs hears of it from other processes. Any of it may be lost.
package enum OwnerSignal: Sendable, Hashable {
    /// Somebody began to watch the job on a terminal, or with nil all jobs of the owner.
    case watched(JobID?)
    /// Somebody attends to a job of the pipeline: what its delays hold back may begin.
    case delaysReset(pipeline: String)
}
