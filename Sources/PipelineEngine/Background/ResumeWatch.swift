import PipelineCore

/// What a driver knows of getting control back: whether a resume is under way, and what is held back by the rules of
/// the background. In memory only: after a crash the restart is a resume of its own.
struct ResumeWatch: Sendable {
    /// Whether a resume is under way: until every step waits again, what happens belongs to it.
    private(set) var isOpen = false
    /// The step that the open resume is still to be counted for.
    private var counted: StepKey?
    /// The open resume, until the ledger was asked.
    var unentered: (step: StepKey, reason: ResumeReason)?
    /// Calls in which something happens here, not outside.
    var inside: Set<StepKey> = []
    /// Nothing new begins before.
    var heldUntil: Timestamp?
    /// Discretionary steps that wait for a good moment, and when it is asked again.
    var moments: [StepKey: Timestamp] = [:]
    /// Since when a step is outside or waits.
    var since: [StepKey: Timestamp] = [:]
    /// How many polls a step was woken for.
    var polls: [StepKey: Int] = [:]
    /// What was foretold when steps began: the quantiles 0.5 and 0.9 of their durations, in seconds.
    var forecasts: [StepKey: (p50: Double, p90: Double)] = [:]
    /// What services said of their ends.
    let reports = ReportBook()
    /// When a step was last known not to have ended.
    var lastRunning: [StepKey: Timestamp] = [:]

    /// Resumes that are expected, to be told to the gate.
    var announcements: [@Sendable () async -> Void] = []

    mutating func takeAnnouncements() -> [@Sendable () async -> Void] {
        defer { announcements = [] }
        return announcements
    }

    /// Begins a resume; false when it belongs to the one under way.
    mutating func open(_ step: StepKey, _ reason: ResumeReason) -> Bool {
        guard !isOpen else { return false }
        isOpen = true
        counted = step
        unentered = (step, reason)
        return true
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

    /// Until when a step that does not run is held back.
    func held(_ step: StepKey) -> Timestamp? { [heldUntil, moments[step]].compactMap { $0 }.max() }

    /// The next moment at which something is due, with what is held back.
    func next(_ due: Timestamp?, at now: Timestamp) -> Timestamp? {
        let held = heldUntil.map { held in due.map { max($0, held) } ?? held } ?? due
        return ([held, heldUntil].compactMap { $0 } + moments.values.filter { $0 > now }).min()
    }
}
