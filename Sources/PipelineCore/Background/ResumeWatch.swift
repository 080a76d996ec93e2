/// The knowledge that a job has of getting control back: whether a resume is under way, and what is held back by the
/// rules of the background. In memory only: after a crash the restart is a resume of its own.
package struct ResumeWatch: Sendable {
    /// True if a resume is under way: until every step waits again, what happens belongs to it.
    package private(set) var isOpen = false
    /// The step that the open resume is still to be counted for.
    private var counted: StepKey?
    /// The open resume, until the ledger was asked, and for how long its step had been outside.
    package private(set) var unentered: (step: StepKey, reason: ResumeReason, waited: Duration)?
    /// Calls in which something happens here, not outside.
    package var inside: Set<StepKey> = []
    /// Nothing new begins before.
    package var heldUntil: Timestamp?
    /// Discretionary steps that wait for a good time, and when it is asked again.
    package var conditions: [StepKey: Timestamp] = [:]
    /// Discretionary steps whose time is good: they begin next.
    var approved: Set<StepKey> = []

    package init() {}

    /// True if something could go on and is held back.
    package var isHeldBack: Bool { heldUntil != nil || !conditions.isEmpty }
    /// True if nothing is under way or held back.
    package var isAtRest: Bool { !isOpen && unentered == nil && !isHeldBack && inside.isEmpty }

    /// Begins a resume; false when it belongs to the one under way.
    @discardableResult mutating func open(_ step: StepKey, _ reason: ResumeReason, waited: Duration) -> Bool {
        guard !isOpen else { return false }
        isOpen = true
        counted = step
        unentered = (step, reason, waited)
        return true
    }

    /// The resume that is to be entered, once.
    mutating func takeUnentered() -> (step: StepKey, reason: ResumeReason, waited: Duration)? {
        defer { unentered = nil }
        return unentered
    }

    /// 1 when the open resume counts for the step and was not counted yet, else 0.
    mutating func takeCount(of step: StepKey) -> Int {
        guard counted == step else { return 0 }
        counted = nil
        return 1
    }

    /// Before nothing is done but wait: the resume is over when no call does anything here.
    mutating func settle() {
        guard isOpen, heldUntil == nil, unentered == nil, inside.isEmpty else { return }
        isOpen = false
        counted = nil
    }

    /// Moves what is held back along with a clock that was set by so much.
    mutating func setClock(by shift: Duration) {
        heldUntil = heldUntil.map { $0 + shift }
        conditions = conditions.mapValues { $0 + shift }
    }

    /// Nothing is held back any more.
    mutating func release() {
        heldUntil = nil
        conditions = [:]
    }

    /// Until when a step that does not run is held back.
    func held(_ step: StepKey) -> Timestamp? { [heldUntil, conditions[step]].compactMap { $0 }.max() }

    /// The next moment at which something is due, with what is held back.
    func next(_ due: Timestamp?, at now: Timestamp) -> Timestamp? {
        let held = heldUntil.map { held in due.map { max($0, held) } ?? held } ?? due
        return ([held, heldUntil].compactMap { $0 } + conditions.values.filter { $0 > now }).min()
    }
}
