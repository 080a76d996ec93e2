public import PipelineCore

/// What stays in memory of a job that is parked; the rest is rows.
///
/// There may be tens of thousands: of most jobs this is a hundred bytes or two.
public final class ParkedJob: Sendable {
    public let lease: Lease
    /// Before this it must go on, because something expires; nil for no such time.
    let mustActBefore: Timestamp?
    private let rest: Rest

    private enum Rest: Sendable {
        /// Nothing holds the job back: only what the end of its waits will be measured by.
        case waiting([StepNotes])
        /// The rules of the background hold it.
        indirect case held(ResumeWatch, pipeline: String)
    }

    init(lease: Lease, resumes: ResumeWatch, of job: JobSnapshot, mustActBefore: Timestamp?) {
        self.lease = lease
        self.mustActBefore = mustActBefore
        if resumes.isAtRest {
            rest = .waiting(job.steps.filter { !$0.value.state.isEnded }.keys.sorted().compactMap(resumes.notes))
        } else {
            rest = .held(resumes, pipeline: job.record.pipeline)
        }
    }

    private init(_ job: ParkedJob, _ rest: Rest) {
        lease = job.lease
        mustActBefore = job.mustActBefore
        self.rest = rest
    }

    /// Whether it is the rules of the background that it waits for.
    var isHeld: Bool { if case .held = rest { true } else { false } }

    /// The job without the delay that held it back, if it is one of the pipeline; nil for one that none holds back.
    func fallenBack(_ pipeline: String) -> ParkedJob? {
        guard case .held(var resumes, pipeline) = rest, resumes.heldUntil != nil else { return nil }
        resumes.heldUntil = nil
        return ParkedJob(self, .held(resumes, pipeline: pipeline))
    }

    /// What the ledger of background resumes must know when it goes on.
    var resumes: ResumeWatch {
        switch rest {
        case .waiting(let notes): ResumeWatch(notes: notes)
        case .held(let watch, _): watch
        }
    }
}

/// What is known of one step's wait.
struct StepNotes: Sendable {
    let step: StepKey
    var since: Timestamp
    var lastRunning: Timestamp?
    var polls: Int32
    var p50: Float?
    var p90: Float?
    var report: ReportBook.Report?
}

extension ResumeWatch {
    /// Whether nothing is under way or held back.
    fileprivate var isAtRest: Bool {
        !isOpen && unentered == nil && heldUntil == nil && moments.isEmpty && inside.isEmpty && announcements.isEmpty
    }

    /// Nil for a step that was never outside.
    fileprivate func notes(of step: StepKey) -> StepNotes? {
        since[step].map { since in
            StepNotes(
                step: step, since: since, lastRunning: lastRunning[step], polls: Int32(clamping: polls[step] ?? 0),
                p50: forecasts[step].map { Float($0.p50) }, p90: forecasts[step].map { Float($0.p90) },
                report: reports.report(of: step))
        }
    }

    fileprivate init(notes: [StepNotes]) {
        for note in notes {
            since[note.step] = note.since
            lastRunning[note.step] = note.lastRunning
            if note.polls > 0 { polls[note.step] = Int(note.polls) }
            if let p50 = note.p50, let p90 = note.p90 { forecasts[note.step] = (Double(p50), Double(p90)) }
            if let report = note.report { reports.keep(report, of: note.step) }
        }
    }
}
