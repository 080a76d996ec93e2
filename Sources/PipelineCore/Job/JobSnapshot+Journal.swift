/// The view that a journal has of a job: what it finds jobs by, and the law by which they change.
extension JobSnapshot {
    /// The job's id.
    public var id: JobID { record.id }
    /// The job's key, which no other job of a journal has: a person's word for it, or its id.
    public var key: String { record.key }
    /// The name of the job's pipeline.
    public var pipeline: String { record.pipeline }
    /// True if something waits for the owner: a person's request, or a callback that it has not seen.
    public var hasRequests: Bool { request != nil || hasPushes }

    /// Folds changes in as a journal commits them: all of them, or on a failure none.
    ///
    /// - Throws: ``JournalFailure/conflict(_:)`` when a step was changed since its row was read, and
    ///   ``JournalFailure/other(_:)`` for an event that is not the job's next one, a notification that was sent before, and an
    ///   owner who says that it crashed.
    public mutating func commit(_ changes: [JournalChange]) throws(JournalFailure) {
        var next = self
        for change in changes {
            try next.check(change)
            next.apply(change)
        }
        self = next
    }

    private func check(_ change: JournalChange) throws(JournalFailure) {
        switch change {
        case .step(let key, let step):
            let isNext = steps[key].map { step.version == $0.version + 1 } ?? (step.version <= 1)
            guard isNext else { throw .conflict(key) }
        case .event(let event):
            guard let number = event.sequence else {
                throw .other("an event without a sequence number is not journaled")
            }
            guard number == sequence + 1 else { throw .other("event \(number) is not the next one of its job") }
        case .notification(let record):
            guard notifications[record.id]?.state != .sent else {
                throw .other("notification \(record.id) was sent already")
            }
        case .released(.crashed): throw .other("no owner lives to say that it crashed")
        case .submit, .fact, .file, .resume, .sample, .taken, .requested, .answered, .released, .ended,
            .callbacksTaken, .callbackJudged, .callbacksVoided, .reopened, .measured, .item:
            break
        }
    }

    /// Takes a person's request in, in place of one before. One to pause says nothing to a job that has paused already: it
    /// would pause once more when it goes on. Nor to one that is to be cancelled: that holds until it is done.
    public mutating func post(_ request: JobRequest) {
        if request == .cancel || self.request != .cancel && cause != .paused { self.request = request }
    }

    /// Counts a callback for a step. A journal knows those that it has had by their ids (``Callback/id``), and gives each to
    /// the job once.
    public mutating func post(_ callback: Callback, to step: StepKey) {
        pushes[step, default: CallbackCount()].add(callback)
    }
}
