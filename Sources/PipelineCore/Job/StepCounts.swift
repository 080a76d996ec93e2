/// The numbers of steps in each state.
struct StepCounts: Sendable, Hashable {
    var pending = 0
    var running = 0
    /// Waiting for a time or a callback.
    var waiting = 0
    /// Those of them that wait for one of a service's places.
    var full = 0
    /// Waiting for a resume.
    var manual = 0
    var unknown = 0
    var failed = 0
    var cancelled = 0

    /// Those under way, or to be when their time comes.
    var active: Int { running + waiting + manual }

    mutating func add(_ state: StepState, _ count: Int) {
        switch state {
        case .pending: pending += count
        case .running: running += count
        case .waiting(_, .resume, _): manual += count
        case .waiting(_, _, let reason):
            waiting += count
            if reason.kind == .full { full += count }
        case .unknown: unknown += count
        case .failed: failed += count
        case .cancelled: cancelled += count
        case .succeeded, .skipped: break
        }
    }
}
