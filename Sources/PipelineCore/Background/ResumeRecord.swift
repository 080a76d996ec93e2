/// One entry of the ledger, as the journal keeps it: from these rows alone the state of every budget follows.
public struct ResumeRecord: Sendable, Hashable {
    /// The way in which an entry counts.
    package enum Charge: String, Sendable, Hashable, CaseIterable {
        /// Against the budget: within the allowance or beyond it.
        case counted
        /// It happened together with another one, which counts for both.
        case joined
        /// It came sooner than its delay allowed, because something would have expired. It counts.
        case expedited
        /// A person attended: no resume, but from here on delays begin again.
        case attended
    }

    /// The time when the engine got control back, or asked for it.
    package var time: Timestamp
    package var pipeline: String
    /// The job; nil once it was removed.
    package var job: JobID?
    /// The step that the resume is counted for; nil for one of the whole job.
    package var step: StepKey?
    package var reason: ResumeReason
    package var charge: Charge
    /// The delay that the pipeline's budget imposed; zero within the allowance.
    package var delay: Duration
    /// The delay that the machine's imposed.
    package var machineDelay: Duration
    /// The time when what followed could begin.
    package var start: Timestamp
    /// True if the pipeline's budget was unlimited: then the machine's does not count it either.
    package var isUnlimited: Bool

    package init(
        time: Timestamp, pipeline: String, job: JobID?, step: StepKey?, reason: ResumeReason, charge: Charge = .counted,
        delay: Duration = .zero, machineDelay: Duration = .zero, start: Timestamp? = nil, isUnlimited: Bool = false
    ) {
        self.time = time
        self.pipeline = pipeline
        self.job = job
        self.step = step
        self.reason = reason
        self.charge = charge
        self.delay = delay
        self.machineDelay = machineDelay
        self.start = start ?? time
        self.isUnlimited = isUnlimited
    }

    /// The mark of a person who waits.
    package static func attended(of job: JobID, pipeline: String, at time: Timestamp) -> ResumeRecord {
        ResumeRecord(time: time, pipeline: pipeline, job: job, step: nil, reason: .restart, charge: .attended)
    }
}
