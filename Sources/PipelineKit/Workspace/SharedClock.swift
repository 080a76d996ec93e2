package import PipelineCore

/// The time of day of a journal that machines share, so that what one of them has journaled is as old for another as it is,
/// however their own clocks are set. What passes is this machine's.
package struct SharedClock: WallClock {
    private let journal: any SharedJournal

    package init(_ journal: any SharedJournal) { self.journal = journal }

    package var now: Timestamp { journal.now }
    package var elapsed: Duration { SystemClock().elapsed }
    package func sleep(until time: Timestamp) async throws(CancellationError) { try await sleepInSlices(until: time) }
}

extension WorkspaceJournal {
    /// The clock by which the jobs of the journal run: that of a journal which machines share, else this machine's.
    package var clock: any WallClock {
        if let shared { SharedClock(shared) } else { SystemClock() }
    }
}
