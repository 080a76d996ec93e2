import PipelineCore

/// The exit statuses of the program; a contract with scripts.
enum ExitStatus: Int32, Sendable, Comparable {
    case succeeded = 0
    /// The job failed or was cancelled.
    case failed = 1
    /// The pipeline file or the inputs are wrong.
    case invalid = 2
    /// The job's submit is unknown.
    case unknown = 3
    case usage = 64
    /// Suspended; can be resumed.
    case suspended = 75
    /// Interrupted twice.
    case interrupted = 130

    static func < (one: ExitStatus, other: ExitStatus) -> Bool { one.rawValue < other.rawValue }

    /// The status of a job that was left so.
    init(_ phase: JobPhase) {
        self =
            switch phase {
            case .succeeded: .succeeded
            case .failed, .cancelled: .failed
            case .unknown: .unknown
            case .running, .waiting, .suspended: .suspended
            }
    }

    /// The status of several jobs: the first of 3, 1, 75, 0 that occurs.
    static func combined(_ statuses: [ExitStatus]) -> ExitStatus {
        for status in [ExitStatus.unknown, .failed, .suspended] where statuses.contains(status) { return status }
        return statuses.first { $0 != .succeeded } ?? .succeeded
    }
}
