package import JSONPath

/// Something that follows from an input of a job: imperative, for the executor to do in the order given.
///
/// Those that ask give their answer back as ``JobInput/found(_:)``. Those that act are done only once all that was
/// committed before them is on disk.
package enum JobCommand: Sendable {
    // MARK: Commit
    /// Keep the changes in one transaction, before anything is acted on; with `mayWait` with whatever comes next.
    case commit([JournalChange], mayWait: Bool)

    // MARK: Ask
    /// Find out whether a step begins: its `when`, its settings, what expired, its first checkpoint.
    case prepare(StepKey)
    /// Evaluate what bounds the items of a repeated stage, and where they have none yet, or old ones, their elements.
    case evaluateItems(StepKey, elements: Bool)
    /// Judge what a step's success is to be warned of, and what it has cost; the captures are as they came.
    case evaluateWarnings(StepKey, captures: JSONObject)
    /// Enter a resume in the ledger of background work.
    case enterResume(ResumeRequest)
    /// Enter a step's round trip for credentials; nil when nothing limits it.
    case enterAuthentication(StepKey, ResumeRequest?)
    /// Judge whether now is a good time for a discretionary step.
    case evaluateCondition(StepKey, ConditionQuestion)
    /// Tell the limiter that a person attends.
    case attend(ResumeRecord, isJournaled: Bool)
    /// Cancel a step at its service.
    case cancelAtService(StepKey)

    // MARK: Act
    /// Call the step's stage.
    case call(StepKey)
    /// Ask a call that is under way to stop.
    case stop(StepKey)
    /// Give a notification to its sink.
    case deliver(NotificationRecord)
    /// Tell the limiter of a resume that will come.
    case expect(ResumeExpectation)
    /// Show an event that no journal keeps.
    case publish(JobEvent)

    // MARK: Rest
    /// Advance once more: what was in the way is gone.
    case `continue`
    /// Nothing is left to do before the time, or before something comes.
    case wait(until: Timestamp?)
    /// All that is left is to wait for long: the job may be forgotten until then.
    case park(until: Timestamp?)
    /// The job is over for this owner.
    case finish(JobEnd)
}

/// The message to the limiter of background resumes about a job.
package enum ResumeExpectation: Sendable {
    /// A resume will come.
    case resume(ExpectedResume)
    /// None of the job's comes any more.
    case none
}

/// The way in which an owner's work on a job came to its end.
package enum JobEnd: Sendable, Hashable {
    /// The job has ended: succeeded, failed or cancelled.
    case ended(JobPhase)
    /// It was let go unfinished.
    case suspended(SuspensionCause)
    /// A submit must be reconciled by a person.
    case unknown
    /// All that is left of it for now is to wait: for the time, or for something from outside. It is still owned, and
    /// nothing of it is in memory.
    case parked(until: Timestamp?)
    /// Another owner has it by now.
    case lost
}
