package import JSONPath

/// Something that happened to a job, as observers and `--json` see it.
public struct JobEvent: Sendable, Hashable {
    /// The types of event; the raw value is the `type` of the line.
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        case jobStarted = "job.started", jobResumed = "job.resumed", jobSuspended = "job.suspended"
        case jobSucceeded = "job.succeeded", jobFailed = "job.failed", jobCancelled = "job.cancelled"
        case stageStarted = "stage.started", stageWaiting = "stage.waiting", stageResumed = "stage.resumed"
        case stageUnknown = "stage.unknown", stageWarned = "stage.warned", stageSucceeded = "stage.succeeded"
        case stageFailed = "stage.failed", stageCancelled = "stage.cancelled", stageSkipped = "stage.skipped"
        case attemptFailed = "attempt.failed", transferProgress = "transfer.progress"
        case estimateChanged = "estimate.changed", resumeDeferred = "resume.deferred"
        case notificationSent = "notification.sent"

        /// True if the journal keeps it and it has a sequence number.
        package var isJournaled: Bool { self != .transferProgress && self != .estimateChanged }
    }

    /// The place in the job's journaled events, from 1 without gaps; nil for progress and estimates.
    public var sequence: Int?
    package var time: Timestamp
    package var kind: Kind
    package var job: JobID
    package var pipeline: String
    /// The step; nil for events of the whole job.
    package var step: StepKey?
    /// The number of the step's try.
    package var attempt: Int?
    /// The data of the kind, see the command-line reference.
    package var data: JSONObject

    package init(
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
