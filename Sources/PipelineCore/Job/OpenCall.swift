/// A call of a stage that is under way.
struct OpenCall: Sendable {
    /// The time when it began.
    private(set) var began: Timestamp
    /// By how much the clock was set since: the call itself goes on by the time that it began with.
    private var shift = Duration.zero

    /// The urgency of its requests.
    let urgency: Urgency

    init(began: Timestamp, urgency: Urgency = .usual) { (self.began, self.urgency) = (began, urgency) }

    mutating func setClock(by shift: Duration) {
        began += shift
        self.shift += shift
    }

    /// Returns how the call ended, by the clock as it is set now.
    func end(_ end: StepEnd) -> StepEnd {
        guard shift != .zero, case .waiting(let checkpoint, let wake, let reason) = end, reason.kind != .time else {
            return end
        }
        return .waiting(checkpoint, wake.shifted(by: shift), reason)
    }
}
