public import JSONPath

/// One change of a job, as data: journals keep it, snapshots fold it, simulations drop it.
///
/// A journal need not look into it: ``JobSnapshot/commit(_:)`` folds it, ``endsOwnership`` says whether the job has an owner
/// after it, and ``json`` is its form on disk. Later versions may have further cases.
public enum JournalChange: Sendable {
    /// The whole new row of a step; its `version` is one more than that of the row it was made from.
    case step(StepKey, StepRecord)
    /// The whole new entry of a submit.
    case submit(StepKey, SubmitRecord)
    /// A fact that is not to be found out again.
    case fact(Fact, JSON)
    /// A journaled event; its sequence is one more than the last.
    case event(JobEvent)
    /// A file got its final name.
    case file(WrittenFile)
    /// An entry of the ledger of background resumes; it outlives the job.
    case resume(ResumeRecord)
    /// The time that a step took; it outlives the job.
    case sample(StageSample)
    /// The job was taken up in the mode.
    case taken(JobMode)
    /// A person's request stands; with nil nothing is asked any more.
    case requested(JobRequest?)
    /// A person's request is done; another one that stands by then stays.
    case answered(JobRequest)
    /// The owner lets the job go: with this transaction it has none. Nil when nothing is to be said about it: a submit
    /// is unknown, or the background owner stops and the next one goes on.
    case released(SuspensionCause?)
    /// The job has ended, and has no owner any more.
    case ended(Timestamp)
    /// The step was woken for so many callbacks, which came first: what follows asks the service after them. Of others that
    /// are there its owner does not know yet.
    case callbacksTaken(StepKey, count: Int)
    /// A callback that came early was judged by the document's `match`, and is one for the step or is not.
    case callbackJudged(StepKey, id: String, isMatch: Bool)
    /// The step begins again: earlier callbacks were for what it was.
    case callbacksVoided(StepKey)
    /// A person wants an ended job to go on.
    case reopened
    /// The whole new row of a notification; one that was sent stays as it is.
    case notification(NotificationRecord)
    /// Adds to the counters; changes nothing of the job.
    case measured(Measurements)
    /// The state of the item of a batch that the job is for; it changes nothing of the job.
    case item(ItemOutcome)
}

extension JournalChange {
    /// True if the job has no owner once it is committed.
    public var endsOwnership: Bool {
        switch self {
        case .released, .ended: true
        case .step, .submit, .fact, .event, .file, .resume, .sample, .taken, .requested, .answered, .callbacksTaken,
            .callbackJudged,
            .callbacksVoided,
            .reopened, .notification, .measured, .item:
            false
        }
    }
}
