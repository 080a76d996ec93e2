package import PipelineCore

/// The memory that stays of a job that is parked; the rest is rows.
///
/// There may be tens of thousands: of most jobs this is a hundred bytes or two.
package final class ParkedJob: Sendable {
    package let lease: Lease
    /// Before this it must go on, because something expires; nil for no such time.
    let mustActBefore: Timestamp?
    let interactivity: Interactivity
    /// The reading of the clock when it was parked: by it the job finds out that the clock was set.
    let reading: ClockReading?
    /// True if existing files may be replaced.
    let overwrites: Bool
    private let pipeline: String
    private let rest: Rest

    private enum Rest: Sendable {
        /// Nothing holds the job back: only what the end of its waits will be measured by.
        case waiting([Note])
        /// The rules of the background hold it.
        indirect case held(ResumeWatch, [Note])
    }

    /// The marks of one step that waits: for most its beginning alone.
    private struct Note: Sendable {
        let step: StepKey
        private let since: Timestamp
        private let rest: Marked?

        private final class Marked: Sendable {
            let mark: EstimateMarks.Mark
            init(_ mark: EstimateMarks.Mark) { self.mark = mark }
        }

        init(_ step: StepKey, _ mark: EstimateMarks.Mark) {
            self.step = step
            since = mark.since
            rest = mark.isPlain ? nil : Marked(mark)
        }

        var mark: EstimateMarks.Mark { rest?.mark ?? EstimateMarks.Mark(since: since) }
    }

    init(_ state: JobState, mustActBefore: Timestamp?, lease: Lease, overwrites: Bool) {
        self.lease = lease
        self.mustActBefore = mustActBefore
        interactivity = state.interactivity
        reading = state.table.moment.reading
        self.overwrites = overwrites
        pipeline = state.table.snapshot.record.pipeline
        let notes = state.marks.steps.map { Note($0.key, $0.value) }
        rest = state.watch.isAtRest ? .waiting(notes) : .held(state.watch, notes)
    }

    private init(_ job: ParkedJob, _ rest: Rest) {
        lease = job.lease
        mustActBefore = job.mustActBefore
        interactivity = job.interactivity
        reading = job.reading
        overwrites = job.overwrites
        pipeline = job.pipeline
        self.rest = rest
    }

    /// True if it is the rules of the background that it waits for.
    var isHeld: Bool { if case .held = rest { true } else { false } }

    /// The job without the delay that held it back, if it is one of the pipeline; nil for one that none holds back.
    func delayReset(_ pipeline: String) -> ParkedJob? {
        guard self.pipeline == pipeline, case .held(var watch, let notes) = rest, watch.heldUntil != nil else {
            return nil
        }
        watch.heldUntil = nil
        return ParkedJob(self, .held(watch, notes))
    }

    /// The watch that the ledger of background resumes needs when it goes on.
    var watch: ResumeWatch { if case .held(let watch, _) = rest { watch } else { ResumeWatch() } }

    /// The marks that estimates keep of its steps.
    var marks: EstimateMarks {
        var marks = EstimateMarks()
        switch rest {
        case .waiting(let notes), .held(_, let notes): for note in notes { marks.steps[note.step] = note.mark }
        }
        return marks
    }
}

extension EstimateMarks.Mark {
    /// True if it says nothing but when the wait began.
    fileprivate var isPlain: Bool {
        lastRunning == nil && polls == 0 && p50 == nil && p90 == nil && report == nil && words == nil
    }
}
