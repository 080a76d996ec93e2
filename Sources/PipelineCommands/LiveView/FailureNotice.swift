import PipelineCore

/// Decides when a batch that stands still says why: as soon as it does, again when the reason is another one, and else
/// every five minutes.
struct FailureNotice: Sendable {
    /// The lines to show now.
    struct Message: Sendable {
        let lines: [StyledText]
        /// The stage of which is to be said for how long it is tried; nil once that was said.
        let stage: String?
    }

    /// That many looks, ten seconds apart, are five minutes.
    private static let interval = 30

    private var failing = FailingItems()
    private var hasProgress = false
    private var told: Set<FailingItems.Reason> = []
    private var looks = 0
    private var hasToldStage = false

    /// Takes in an event of an item's job.
    mutating func apply(_ event: JobEvent) {
        failing.apply(event)
        if event.kind == .stageSucceeded { hasProgress = true }
    }

    /// The item has ended, or can't go on now.
    mutating func remove(_ job: JobID) { failing.remove(job) }

    /// Returns what is to be told of a batch that got no further since the last look; nil when there is nothing new.
    mutating func look(atWork count: Int, batch: String) -> Message? {
        let reasons = failing.toldReasons(ofAtWork: count)
        let standsStill = !hasProgress && !reasons.isEmpty
        hasProgress = false
        looks += 1
        if reasons.isEmpty { told = [] }
        guard standsStill, !reasons.isSubset(of: told) || looks >= Self.interval else { return nil }
        (told, looks) = (reasons, 0)
        let stage = hasToldStage ? nil : failing.stageWithoutResponse(ofAtWork: count)
        if stage != nil { hasToldStage = true }
        return Message(lines: failing.lines(ofAtWork: count, batch: batch), stage: stage)
    }
}
