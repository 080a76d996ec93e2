/// The state of a job as a whole: computed from its steps and its owner, never stored next to them.
public enum JobPhase: String, Sendable, Hashable, CaseIterable {
    case running, suspended, waiting, unknown, succeeded, failed, cancelled

    /// True if nothing goes on without a person's `retry`.
    package var isEnded: Bool {
        switch self {
        case .succeeded, .failed, .cancelled: true
        case .running, .suspended, .waiting, .unknown: false
        }
    }
}
