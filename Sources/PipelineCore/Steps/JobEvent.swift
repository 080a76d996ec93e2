public import JSONPath

/// Something that happened to a job, as observers and `--json` see it.
public struct JobEvent: Sendable, Hashable {
    /// The types of event; the raw value is the `type` of the line.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        case jobStarted = "job.started", jobResumed = "job.resumed", jobSuspended = "job.suspended"
        case jobSucceeded = "job.succeeded", jobFailed = "job.failed", jobCancelled = "job.cancelled"
        case stageStarted = "stage.started", stageWaiting = "stage.waiting", stageResumed = "stage.resumed"
        case stageUnknown = "stage.unknown", stageWarned = "stage.warned", stageSucceeded = "stage.succeeded"
        case stageFailed = "stage.failed", stageCancelled = "stage.cancelled", stageSkipped = "stage.skipped"
        case attemptFailed = "attempt.failed", transferProgress = "transfer.progress"
        case estimateChanged = "estimate.changed", resumeDeferred = "resume.deferred"
        case notificationSent = "notification.sent"

        /// Whether the journal keeps it and it has a sequence number.
        public var isJournaled: Bool { self != .transferProgress && self != .estimateChanged }
    }

    /// The place in the job's journaled events, from 1 without gaps; nil for progress and estimates.
    public var sequence: Int?
    public var time: Timestamp
    public var kind: Kind
    public var job: JobID
    public var pipeline: String
    /// The step; nil for events of the whole job.
    public var step: StepKey?
    /// The number of the step's try.
    public var attempt: Int?
    /// What the kind tells, see the command-line reference.
    public var data: JSONObject

    public init(
        sequence: Int?, time: Timestamp, kind: Kind, job: JobID, pipeline: String, step: StepKey? = nil,
        attempt: Int? = nil, data: JSONObject = [:]
    ) {
        self.sequence = sequence
        self.time = time
        self.kind = kind
        self.job = job
        self.pipeline = pipeline
        self.step = step
        self.attempt = attempt
        self.data = data
    }
}
