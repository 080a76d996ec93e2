/// One document over many inputs: what is fixed when it begins, and how far it came. It belongs to a job without steps,
/// which is owned, suspended and cancelled as every job is.
package struct BatchRecord: Sendable, Hashable {
    /// The arguments of `--each`, and the folder that they are relative to.
    package var sources: [String]
    package var folder: String
    package var settings: BatchSettings
    /// The place up to which the sources were read; nil before the first row.
    package var place: ReadingPlace?
    /// True once the last row was read.
    package var isRead: Bool
    /// The number of items in each state.
    package var counts: [ItemRecord.State: Int]
    /// The number of those that had failed, were cancelled or were to begin before this reading, that none of its rows names
    /// and that were not begun again: they stay as they are, and the batch is not judged by them.
    package var aside: [ItemRecord.State: Int] = [:]
    /// The number of times that an item stopped, cost something by that, and is not among those that have succeeded: it failed,
    /// was cancelled or let go, is unknown, or began again since.
    package var otherEnds = 0
    /// The cost of its items, in the author's currency; nil while no document says.
    package var cost: Double?
    /// Body bytes of items that have ended.
    package var moved = BytesMoved()
    /// The failure that the last items to end have in common.
    package var streak: FailureStreak
    /// True once it begins nothing more: what was at work ends, and does not hide the failures that stopped it.
    package var isStopped = false

    package init(sources: [String], folder: String, settings: BatchSettings) {
        self.sources = sources
        self.folder = folder
        self.settings = settings
        isRead = false
        counts = [:]
        streak = FailureStreak()
    }

    /// All that were read, without duplicates.
    package var itemCount: Int { counts.reduce(0) { $0 + ($1.key == .duplicate ? 0 : $1.value) } }
    package func count(_ state: ItemRecord.State) -> Int { counts[state] ?? 0 }
    /// Those that are to begin; one that no row of the latest reading names is not.
    package var pendingCount: Int { judgedCount(.pending) }
    /// Those of the state by which the batch is judged.
    private func judgedCount(_ state: ItemRecord.State) -> Int { count(state) - (aside[state] ?? 0) }
    /// Those whose jobs somebody runs.
    package var underWayCount: Int { count(.running) + count(.waiting) }
    /// Those that have ended, one way or another.
    package var endedCount: Int { count(.succeeded) + count(.failed) + count(.cancelled) }
}

/// The place up to which the sources of a batch were read.
package struct ReadingPlace: Sendable, Hashable {
    /// Which of the sources, from 0.
    package var source: Int
    /// The next byte of a file, and its line from 1; of files found by a pattern nil.
    package var offset: Int64?
    package var line: Int?
    /// The path that was read last, of files found by a pattern.
    package var path: String?
    /// The state of the file that the byte is of: in another one it means nothing.
    package var fingerprint: String?

    package init(
        source: Int, offset: Int64? = nil, line: Int? = nil, path: String? = nil, fingerprint: String? = nil
    ) {
        self.source = source
        self.offset = offset
        self.line = line
        self.path = path
        self.fingerprint = fingerprint
    }
}

/// The limits of a batch.
package struct BatchSettings: Sendable, Hashable {
    /// The number of items that are begun and not ended.
    package var atOnce: Int
    /// Nil without one: then everything is tried, and one failure fails the batch.
    package var tolerance: FailureTolerance?
    /// So many items in a row that fail alike stop the rest.
    package var stopAfter: Int
    /// The absolute path of the file that results are appended to; nil without one.
    package var results: String?
    /// The amount of money that items may cost before no more begin; nil for any.
    package var spend: Double?
    /// The number of failures that were there when a person said to go on: they do not stop it again.
    package var forgiven = 0
    /// The number of items that had succeeded at no known cost when a person said to go on: they say nothing of what the
    /// next ones cost.
    package var unpriced = 0
    /// The stage at which the items that a person had begun again do so, with all that need it; nil for what failed of
    /// them.
    package var from: String?

    package init(
        atOnce: Int = 64, tolerance: FailureTolerance? = nil, stopAfter: Int = 10, results: String? = nil,
        spend: Double? = nil
    ) {
        self.spend = spend
        self.atOnce = atOnce
        self.tolerance = tolerance
        self.stopAfter = stopAfter
        self.results = results
    }
}

/// The run of items that came to rest last and failed alike, or are unknown alike.
package struct FailureStreak: Sendable, Hashable {
    package var group: ItemFailure.Group?
    package var count: Int

    package init(group: ItemFailure.Group? = nil, count: Int = 0) {
        self.group = group
        self.count = count
    }

    /// After one more item has come to rest.
    package mutating func add(_ item: ItemRecord) {
        guard let latest = item.streakGroup else {
            if item.state == .succeeded { self = FailureStreak() }
            return
        }
        self = FailureStreak(group: latest, count: latest == group ? count + 1 : 1)
    }
}

extension BatchRecord {
    /// That many items must have ended before more than that many run.
    package static let costSample = 10

    /// The number of items that may be begun and not ended, by what was spent and what those that run will cost: as
    /// much each as those before. What was spent bounds it from the first item on.
    package var affordableCount: Int {
        guard let spend = settings.spend else { return settings.atOnce }
        if cost == nil, isCostUnknown { return 0 }
        // Rows that could not be begun have cost nothing and say nothing: while no cost is known, what failed is no sample.
        guard let cost, cost > 0 else { return most(afterEnds: count(.succeeded) - settings.unpriced) }
        let ends = count(.succeeded) + otherEnds
        let sample = ends > 0 ? ends : max(1, endedCount)
        let left = Amount(spend) - Amount(cost)
        return min(left.count(ofThoseLike: sample, costing: Amount(cost)), most(afterEnds: endedCount))
    }

    /// True if so many items have succeeded and nothing was paid that an amount may not bound the rest: the document's `cost`
    /// gives no number, of any item or of those in which there was something to pay. Which of them said nothing their own
    /// rows tell.
    package var isCostUnknown: Bool {
        settings.spend != nil && (cost ?? 0) == 0 && count(.succeeded) - settings.unpriced >= Self.costSample
    }

    /// The number of those that have succeeded at no known cost, for ``BatchSettings/unpriced``.
    package var unpricedCount: Int { (cost ?? 0) == 0 ? count(.succeeded) : 0 }

    private func most(afterEnds count: Int) -> Int {
        count < Self.costSample ? min(settings.atOnce, Self.costSample) : settings.atOnce
    }

    /// The reason why nothing more may begin; nil while items may, and once there is none left to hold back.
    package var obstacle: SuspensionCause? {
        guard !isRead || pendingCount > 0 else { return nil }
        if failsAlike { return .sameFailure }
        let isExceeded = settings.tolerance?.isExceeded(
            failures: count(.failed) - max(settings.forgiven, aside[.failed] ?? 0), items: itemCount, isRead: isRead)
        return isExceeded == true ? .tooManyFailures : nil
    }

    /// True once so many items in a row have failed alike that those that have begun order nothing more either: they would
    /// fail as those before did. Beyond a tolerance what has begun comes to its end.
    package var failsAlike: Bool { streak.count >= settings.stopAfter }

    /// Returns whether one more item may have one of a service's places: not where what was spent, and what those at work that
    /// have one will cost, is all that may be spent.
    ///
    /// - Parameter held: counts the places of items at work; called where it matters.
    package func letsIn<Failure: Error>(besides held: () throws(Failure) -> Int) throws(Failure) -> Bool {
        if isStopped || failsAlike { return false }
        if settings.spend == nil { return true }
        return try held() < affordableCount
    }

    /// True if nothing more may begin should the rows that are still to come name what failed before this reading.
    package var mayMeetObstacle: Bool {
        guard let before = aside[.failed], before > 0 else { return false }
        let failures = count(.failed) - settings.forgiven
        return settings.tolerance?.isExceeded(failures: failures, items: itemCount) == true
    }

    /// The end of the batch once nothing of it runs or can begin: a phase as a job has it.
    package var outcome: JobPhase? {
        guard isRead, pendingCount == 0, underWayCount == 0, count(.suspended) == 0 else { return nil }
        if count(.unknown) > 0 { return .unknown }
        let failures = judgedCount(.failed)
        let tolerance = settings.tolerance ?? .count(0)
        if tolerance.isExceeded(failures: failures, items: itemCount, isRead: true) { return .failed }
        return judgedCount(.cancelled) > 0 ? .cancelled : .succeeded
    }
}
