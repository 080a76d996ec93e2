/// The engine has control back, or wants it: what the ledger is asked.
package struct ResumeRequest: Sendable, Hashable {
    package var pipeline: String
    package var job: JobID
    /// The step that the resume is counted for; nil for one of the whole job.
    package var step: StepKey?
    package var reason: ResumeReason
    package var budget: ResumeBudget
    /// The time by which what follows may be moved so that several resumes happen together.
    package var tolerance: Duration
    /// Before this what follows must begin, because something expires.
    package var mustBeginBy: Timestamp?

    package init(
        pipeline: String, job: JobID, step: StepKey?, reason: ResumeReason, budget: ResumeBudget,
        tolerance: Duration = .zero, mustBeginBy: Timestamp? = nil
    ) {
        self.pipeline = pipeline
        self.job = job
        self.step = step
        self.reason = reason
        self.budget = budget
        self.tolerance = tolerance
        self.mustBeginBy = mustBeginBy
    }
}

/// The ledger's answer: when what follows a resume may begin. The journaling of what ended never waits for it.
package struct ResumeDecision: Sendable, Hashable {
    /// The row to journal with what ended.
    package let record: ResumeRecord
    /// The time when it was asked.
    package let asked: Timestamp
    /// One sentence that says why it is delayed, or why it is not.
    package let rationale: String

    /// The time when what follows may begin.
    package var start: Timestamp { record.start }
    /// The time from the question until then.
    package var delay: Duration { max(.zero, start - asked) }
    package var isDeferred: Bool { start > asked }
}
