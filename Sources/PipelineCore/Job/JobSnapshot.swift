package import JSONPath

/// All that is known of a job: a fold of what was committed, in memory or read from the journal.
public struct JobSnapshot: Sendable {
    package let record: JobRecord
    package var steps: [StepKey: StepRecord]
    package var submits: [StepKey: SubmitRecord]
    /// The values that expressions found out once: `now()`, `uuid()`, sizes and digests of files.
    package var facts: [Fact: JSON]
    private var written: WrittenFiles
    /// The sequence number of the last journaled event.
    package var sequence: Int
    package var mode: JobMode
    /// The pushes that came for steps, from outside of the owner: it learns of them by its inbox.
    package var pushes: [StepKey: CallbackCount] = [:]
    /// The notifications about the job, sent and to be sent, by id.
    package var notifications: [String: NotificationRecord] = [:]
    /// The request of a person that is not yet done. One to cancel stays with a batch that it ended, until that begins again:
    /// what is cancelled of it was not taken out by its name.
    package var request: JobRequest?
    /// How its last owner let it go; nil while it is owned, or when its owner vanished.
    package var release: Release?
    /// The time when it ended; nil while it has not.
    public package(set) var ended: Timestamp?
    /// The batch that the job is; nil for a job with steps.
    package var batch: BatchRecord?

    /// The letting go of a job by its owner.
    package struct Release: Sendable, Hashable {
        /// The reason; nil when nothing is to be said about it.
        package let cause: SuspensionCause?

        package init(cause: SuspensionCause?) { self.cause = cause }
    }

    /// The reason why the last owner let it go; nil while it is owned, or when its owner vanished.
    package var cause: SuspensionCause? {
        get { release?.cause }
        set { release = newValue.map { Release(cause: $0) } }
    }

    /// A job that has just been made, each step pending.
    package init(record: JobRecord, steps: [StepKey: StepRecord], mode: JobMode) {
        self.record = record
        self.steps = steps
        self.mode = mode
        submits = [:]
        facts = [:]
        written = WrittenFiles([])
        sequence = 0
    }
}

extension JobSnapshot {
    /// In the order in which they were written; ``orderedFiles`` is for people.
    package var files: [WrittenFile] {
        get { written.all }
        set { written = WrittenFiles(newValue) }
    }

    /// What was written last at a path; nil where nothing was.
    package func writtenFile(at path: String) -> WrittenFile? { written.last(at: path) }

    /// The files as they are listed: stage by stage, in the order in which these wrote their first, and those of a
    /// stage's items in the order of the items, whichever ended first. What a step wrote that is skipped by now is of an
    /// earlier run.
    package var orderedFiles: [WrittenFile] {
        let files = files.filter { file in file.step.flatMap { steps[$0]?.state } != .skipped }
        var places: [String?: Int] = [:]
        for file in files where places[file.step?.stage] == nil { places[file.step?.stage] = places.count }
        return files.enumerated()
            .map { (rank: (places[$1.step?.stage] ?? 0, $1.step?.item ?? -1, $0), file: $1) }
            .sorted { $0.rank < $1.rank }.map(\.file)
    }

    /// Returns whether a callback for the step has woken nothing yet.
    package func hasCallback(_ key: StepKey) -> Bool { (pushes[key]?.waiting ?? 0) > 0 }

    /// True if a push came that woke nothing yet.
    package var hasPushes: Bool { pushes.values.contains { $0.waiting > 0 } }

    /// The snapshot after a committed change. The same fold serves every journal and the engine's memory.
    package mutating func apply(_ change: JournalChange) {
        switch change {
        case .step(let key, let step): steps[key] = step
        case .submit(let key, let submit): submits[key] = submit
        case .fact(let fact, let value): facts[fact] = value
        case .event(let event): sequence = event.sequence ?? sequence
        case .file(let file): written.add(file)
        case .taken(let mode):
            self.mode = mode
            release = nil
        case .requested(let request): self.request = request
        case .answered(let request): if self.request == request { self.request = nil }
        case .released(let cause): release = Release(cause: cause)
        case .ended(let time): ended = time
        case .callbacksTaken(let key, let count): pushes[key]?.take(count)
        case .callbackJudged(let key, let id, let isMatch): pushes[key]?.judge(id, isMatch: isMatch)
        case .callbacksVoided(let key): pushes[key] = nil
        case .notification(let record): notifications[record.id] = record
        case .resume, .sample, .measured, .item: break
        case .reopened:
            ended = nil
            cause = nil
            request = nil
        }
    }
}
