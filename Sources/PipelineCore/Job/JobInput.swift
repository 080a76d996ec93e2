package import JSONPath

/// Something that reaches a job: all that ``JobState/apply(_:at:)`` decides from, besides what it has kept.
package enum JobInput: Sendable {
    /// The job was made just now. With `begins` stages that need nothing but the job itself begin in its first commit.
    case created(begins: Bool)
    /// An owner took the job up.
    case takenUp(JobMode, RestartScope, lost: [WrittenFile] = [])
    /// All that has come was taken in: what follows from it is to be done.
    case advance
    /// The answer to what a command asked has been found.
    case found(Finding)
    /// A call of a stage has ended; `random` is uniform in 0..<1.
    case ended(StepKey, StepEnd, StepNotes, random: Double)
    /// A call of a stage that is under way has something to be kept.
    case saved(StepKey, StepReport, StepNotes)
    /// Something was said of a step's end that may move what was promised of the job's.
    case heard(StepKey, StepNotes)
    /// A step needs a round trip of its own for credentials.
    case authenticates(StepKey)
    /// The result of a notification that a sink was given, by its id.
    case delivered(String, Result<Void, NotificationFailure>, random: Double)
    /// A person attends to a job of the pipeline: what its delays hold back may begin.
    case delaysReset(pipeline: String)
    /// The requests of others to the job, as the journal has it.
    case inbox(JobInbox)
    /// Everything is to stop.
    case stop(StopRequest)
    /// The job was let go: what has happened is still to be told.
    case notify
    /// A secret that the job needs can't be found; the sentence says which.
    case secretMissing(String)
    /// A person reconciled a submit whose response was lost.
    case resolved(StepKey, Resolution)
    /// What steps of the job, which has ended, left at their services is to be removed there.
    case removal
    /// Something that should never happen did, to this step; the job has been taken up from the journal since.
    case broken(StepKey, StepFailure)

    /// The result of something that a command had found out.
    package enum Finding: Sendable {
        case preparation(StepKey, StepPreparation)
        case items(StepKey, Result<ForEachItems, AttemptFailure>)
        /// The warnings that go with a step's success, and its cost; its captures as they may be kept.
        case warnings(StepKey, captures: JSONObject, [String], cost: Double?)
        case resume(ResumeDecision)
        case authentication(StepKey, ResumeDecision?)
        case condition(StepKey, ConditionEvaluation)
        /// A person attends; whether a delay was in force, or it is journaled in any case.
        case attended(ResumeRecord, isJournaled: Bool)
        /// A step was cancelled at its service; the sentence says what went wrong.
        case cancellation(StepKey, problem: String?)
    }
}

/// The way in which a call of a stage ended.
package enum StepEnd: Sendable {
    case finished(JSONObject)
    case waiting([UInt8], WakeCondition, WaitReason)
    case unknown([UInt8]?, UnknownSubmit)
    case failed(AttemptFailure)
    /// It was stopped from outside.
    case stopped
}

/// The notes about a step between two changes of it that no commit has kept yet.
package struct StepNotes: Sendable {
    /// Body bytes of requests that are no transfer. Unlike a transfer's they are no progress: a poll that fails again
    /// and again has moved bytes too.
    package var moved = BytesMoved()
    /// Until when the service keeps what the step has there; nil when nothing was said.
    package var expires: Timestamp??
    /// The last estimate of its end.
    package var words: JobEstimate.Words?
    /// The first estimate of its end by the service.
    package var report: FirstReport?
    /// The time when the service says that it ended.
    package var ended: Timestamp?
    /// The cost of what the service has done, should the step end without a result; see ``JobTable/charge(_:for:_:isOver:)``.
    package var cost: Double?

    package init() {}

    /// The first words of a service about the end of a step.
    package struct FirstReport: Sendable, Hashable {
        package let time: Timestamp
        package let secondsLeft: Double?
        package let share: Double?

        package init(time: Timestamp, secondsLeft: Double?, share: Double?) {
            self.time = time
            self.secondsLeft = secondsLeft
            self.share = share
        }
    }
}

/// The decision whether a step that may begin does.
package enum StepPreparation: Sendable {
    /// Its `when` says no.
    case skipped
    /// It begins: whether its failure is tolerated, and what the stage wants to be kept with its start.
    case ready(tolerates: Bool, checkpoint: [UInt8]?)
    /// Something that it reads has expired.
    case expired(StepExpiry)
    /// A value that it needs is wrong, or can't be had for want of a secret.
    case failed(AttemptFailure)
}

/// The items over which a repeated stage is repeated.
package struct ForEachItems: Sendable {
    /// The elements; nil where the items of another stage are followed, and where those that are there keep theirs.
    package var elements: [JSON]?
    /// The number that run at a time, where the document says it.
    package var concurrencyLimit: Int?
    /// The number that may fail.
    package var tolerance: FailureTolerance
    /// True if no more begin once one has failed.
    package var stopsOnFailure: Bool

    package init(
        elements: [JSON]?, concurrencyLimit: Int?, tolerance: FailureTolerance = .count(0), stopsOnFailure: Bool = false
    ) {
        self.elements = elements
        self.concurrencyLimit = concurrencyLimit
        self.tolerance = tolerance
        self.stopsOnFailure = stopsOnFailure
    }
}

/// The way in which a job is to stop before its end.
package enum StopRequest: Sendable, Hashable {
    case suspend(SuspensionCause, detail: String? = nil)
    /// Its owner ends, and the next background owner goes on.
    case leave
    case cancel
    /// It is cancelled without a word to its services: no stage is called, not of `finally` either.
    case abandon
}

/// Which steps that have ended begin again when a job is taken up.
package enum RestartScope: Sendable, Hashable {
    /// None.
    case nothing
    /// Those that failed or were cancelled, with fresh attempts.
    case failed
    /// Of repeated stages the item of that number, where it failed or was cancelled, and what failed for want of it.
    case failedItem(Int)
    /// The stage and all that need it, as if they had never run.
    case from(String)

    /// Returns the same where the plan has the stage, else what failed: an item may be of a document that the batch had
    /// before.
    package func known(in plan: Plan) -> RestartScope {
        if case .from(let stage) = self, plan.stage(stage) == nil { return .failed }
        return self
    }
}

/// The knowledge that a person has of a submit whose response was lost.
package enum Resolution: Sendable {
    /// It is there; the captures are what its response would have given.
    case found(JSONObject)
    /// It is not there: send it again, as a new one.
    case resubmit
    /// It is looked for again, as the document says by now.
    case lookUp
    /// The step is given up.
    case abandon
}

/// The moment of an input: all of the world that the law may know of it.
package struct JobMoment: Sendable {
    package let time: Timestamp
    /// The reading of the clock besides; nil where nobody asks how much it is set.
    package let reading: ClockReading?
    /// True if a person watches the job on a terminal: then nothing holds it back.
    package let isWatched: Bool
    /// Hides secrets in what is kept for people.
    package let redactor: Redactor

    package init(
        _ time: Timestamp, reading: ClockReading? = nil, isWatched: Bool = false, redactor: Redactor = Redactor()
    ) {
        self.time = time
        self.reading = reading
        self.isWatched = isWatched
        self.redactor = redactor
    }

    package init(_ reading: ClockReading, isWatched: Bool = false, redactor: Redactor = Redactor()) {
        self.init(reading.time, reading: reading, isWatched: isWatched, redactor: redactor)
    }

    /// By how much the clock was set since an earlier moment; nil when it was not.
    func shift(since earlier: JobMoment) -> Duration? {
        guard let reading, let before = earlier.reading else { return nil }
        return reading.shift(since: before)
    }
}
