/// The metrics that are kept in the journal, or read from it when somebody asks. The raw value is the name of the
/// family as Prometheus has it; names and labels are a contract.
package enum Metric: String, Sendable, Hashable, CaseIterable {
    case jobs = "pipeline_jobs"
    case jobsEnded = "pipeline_jobs_ended_total"
    case jobDuration = "pipeline_job_duration_seconds"
    case stageDuration = "pipeline_stage_duration_seconds"
    case stageAttempts = "pipeline_stage_attempts_total"
    case submits = "pipeline_submits_total"
    case polls = "pipeline_polls_total"
    case pollDelay = "pipeline_poll_delay_seconds"
    case requestDuration = "pipeline_http_request_duration_seconds"
    case transferredBytes = "pipeline_transferred_bytes_total"
    case resumes = "pipeline_resumes_total"
    case serviceClosed = "pipeline_service_closed"
    case computations = "pipeline_computations"
    case batchItems = "pipeline_batch_items"
    case cost = "pipeline_cost_total"
    case journalCommits = "pipeline_journal_commits_total"
    case journalCommit = "pipeline_journal_commit_seconds"
    case nextExpiry = "pipeline_next_expiry_seconds"

    /// The way in which the values of a family behave.
    package enum Kind: Sendable, Hashable {
        /// A sum that never falls.
        case counter
        /// A value that is true at the moment of the question.
        case gauge
        /// Counts of observations by size; each bound holds all that are at most as large, in the metric's unit.
        case histogram(bounds: [Double])
    }

    package var kind: Kind {
        switch self {
        case .jobs, .serviceClosed, .computations, .batchItems, .nextExpiry: .gauge
        case .jobsEnded, .stageAttempts, .submits, .polls, .transferredBytes, .resumes, .cost, .journalCommits: .counter
        case .jobDuration, .stageDuration:
            .histogram(bounds: [0.1, 0.5, 1, 5, 10, 30, 60, 300, 900, 1800, 3600, 14_400, 86_400, 604_800])
        case .pollDelay: .histogram(bounds: [0.5, 1, 2, 5, 10, 30, 60, 300, 900, 3600])
        case .requestDuration:
            .histogram(bounds: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300])
        case .journalCommit: .histogram(bounds: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1])
        }
    }

    /// True if no promise rests on it: the journal takes it once a second, and a process that is killed may lose that much.
    package var mayLag: Bool {
        switch self {
        case .polls, .pollDelay, .requestDuration, .transferredBytes, .journalCommits, .journalCommit: true
        case .jobs, .jobsEnded, .jobDuration, .stageDuration, .stageAttempts, .submits, .resumes, .serviceClosed,
            .computations, .batchItems, .cost, .nextExpiry:
            false
        }
    }

    /// The names of its labels, in the order in which a series has their values.
    package var labels: [String] {
        switch self {
        case .jobs: ["pipeline", "state"]
        case .jobsEnded: ["pipeline", "result"]
        case .jobDuration, .cost: ["pipeline"]
        case .stageDuration: ["pipeline", "stage"]
        case .stageAttempts: ["pipeline", "stage", "result"]
        case .submits: ["service", "outcome"]
        case .polls: ["service", "form"]
        case .pollDelay, .serviceClosed, .computations: ["service"]
        case .requestDuration: ["service", "method", "status_class"]
        case .transferredBytes: ["service", "direction"]
        case .resumes: ["reason"]
        case .batchItems: ["batch", "state"]
        case .journalCommits, .journalCommit, .nextExpiry: []
        }
    }

    /// One sentence for people.
    package var help: String {
        switch self {
        case .jobs: "Jobs that have not ended, by state."
        case .jobsEnded: "Jobs that ended, by result."
        case .jobDuration: "Time from the start of a job to its end."
        case .stageDuration: "Time from the start of a stage to its end; of a repeated one until all items ended."
        case .stageAttempts: "Attempts of stages and of their items that ended, by result."
        case .submits: "Submits by what became of them; one that was sent again is also counted as repeated."
        case .polls: "Polls that were sent, alone or as a list for many jobs."
        case .pollDelay: "Time from the end that the service states of a remote job to our knowing."
        case .requestDuration: "Duration of HTTP requests, by the class of the response's status."
        case .transferredBytes: "Bytes of bodies that were sent and received."
        case .resumes: "Times that background work under a resume budget got control back, by reason."
        case .serviceClosed: "1 while a service has said not now, and nobody asks it."
        case .computations: "Remote jobs that were submitted and have not ended."
        case .batchItems: "Items of batches, by state."
        case .cost: "What stages cost, in the author's currency."
        case .journalCommits: "Transactions of the journal."
        case .journalCommit: "Duration of a transaction of the journal, its sync included."
        case .nextExpiry: "Time until the next thing expires that an unfinished job needs."
        }
    }
}
