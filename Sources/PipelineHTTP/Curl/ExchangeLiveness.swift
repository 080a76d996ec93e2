/// The times when something of an exchange last moved.
struct ExchangeLiveness {
    /// The time when a byte or a head last moved.
    var lastMove: Duration = .zero
    /// Since when, and at which number of bytes, a stall is looked for.
    var window: (start: Duration, moved: Int64)?

    /// Takes time out of the account in which we did not look.
    mutating func forgive(_ absence: Duration, at now: Duration) {
        lastMove = min(lastMove + absence, now)
        if let window { self.window = (min(window.start + absence, now), window.moved) }
    }

    /// Returns when the rule ends the exchange, if nothing more moves until then. A window begins whenever enough has moved, or
    /// when nothing has to move: then there is no stall.
    ///
    /// - Parameters:
    ///   - moved: the number of bytes that have moved so far.
    ///   - isMoving: whether bytes ought to be on their way.
    ///   - mayBeSlow: whether any byte is enough.
    mutating func deadline(
        by rule: StallRule, moved: Int64, isMoving: Bool, mayBeSlow: Bool, at now: Duration
    ) -> Duration {
        let expected = mayBeSlow ? 1 : Double(rule.bytesPerSecond) * rule.time.seconds
        let isEnough = window.map { Double(moved - $0.moved) >= expected } ?? true
        if isEnough || !isMoving { window = (now, moved) }
        return (window?.start ?? now) + rule.time
    }
}
