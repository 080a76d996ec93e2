/// The engine has control back, or wants it: what the ledger is asked.
public struct ResumeRequest: Sendable, Hashable {
    public var pipeline: String
    public var job: JobID
    /// The step that the resume is counted for; nil for one of the whole job.
    public var step: StepKey?
    public var reason: ResumeReason
    public var budget: ResumeBudget
    /// How far what follows may be moved so that several resumes happen together.
    public var tolerance: Duration
    /// Before this what follows must begin, because something expires.
    public var mustBeginBy: Timestamp?

    public init(
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
public struct ResumeDecision: Sendable, Hashable {
    /// The row to journal with what ended.
    public let record: ResumeRecord
    /// When it was asked.
    public let asked: Timestamp
    /// One sentence that says why it is delayed, or why it is not.
    public let rationale: String

    /// When what follows may begin.
    public var start: Timestamp { record.start }
    /// How long that is from the question.
    public var delay: Duration { max(.zero, start - asked) }
    public var isDeferred: Bool { start > asked }
}
