package import JSONPath

/// One input of a batch: a row of the journal. It becomes one job, whose key is `BATCH.NUMBER`.
package struct ItemRecord: Sendable, Hashable {
    /// The state of an item.
    package enum State: String, Sendable, Hashable, CaseIterable {
        /// Read, and not begun.
        case pending
        /// Its job was begun and has not ended.
        case running
        /// Its job waits. No row says so: to those who look, an item under way is what its job is.
        case waiting
        /// Its job can't go on without a person or a network.
        case suspended
        /// A submit of its job is unknown.
        case unknown
        case succeeded, failed, cancelled
        /// Its key came before in the same reading: shown, not run.
        case duplicate

        /// True if nothing but a person's word begins it again.
        package var isEnded: Bool {
            switch self {
            case .succeeded, .failed, .cancelled, .duplicate: true
            case .pending, .running, .waiting, .suspended, .unknown: false
            }
        }

        /// True for what a row can say.
        package var isKept: Bool { self != .waiting }

        /// The states of rows among which items are that stand so: a row says of an item under way that it runs, and only
        /// its job knows that it waits, or that nobody runs it.
        package var rows: Set<State> {
            switch self {
            case .waiting: [.running]
            case .suspended: [.suspended, .running]
            case .pending, .running, .unknown, .succeeded, .failed, .cancelled, .duplicate: [self]
            }
        }

        /// The state of an item under way whose job is in a phase.
        package init(_ phase: JobPhase) {
            self =
                switch phase {
                case .running: .running
                case .waiting: .waiting
                case .suspended: .suspended
                case .unknown: .unknown
                case .succeeded: .succeeded
                case .failed: .failed
                case .cancelled: .cancelled
                }
        }
    }

    /// From 1, in the order of reading.
    package let number: Int
    /// Tells it apart in its batch over all readings; of a duplicate the key that came before.
    package let key: String
    /// The line of the source that it was read from, from 1; nil for files that a pattern found.
    package var line: Int?
    /// The values that it gives for the pipeline's inputs; paths absolute.
    package var inputs: JSONObject
    package var state: State
    /// Its job; nil before it is begun, and of one that can't be.
    package var job: JobID?
    /// The number of times that it was begun.
    package var attempt: Int
    package var ended: Timestamp?
    /// From the beginning of its job to its end.
    package var seconds: Double?
    package var failure: ItemFailure?
    /// The cost of its job, in the author's currency; nil when the document does not say.
    package var cost: Double?
    /// Body bytes of its job.
    package var moved = BytesMoved()
    /// The values of the document's `batch.results`.
    package var results: JSONObject = [:]
    /// The absolute paths that its job has written.
    package var files: [String] = []
    /// True for one from before the last reading that none of its rows names: it does not begin.
    package var isAside = false

    package init(
        number: Int, key: String, line: Int? = nil, inputs: JSONObject = [:], state: State = .pending,
        job: JobID? = nil, attempt: Int = 0, ended: Timestamp? = nil, seconds: Double? = nil
    ) {
        self.number = number
        self.key = key
        self.line = line
        self.inputs = inputs
        self.state = state
        self.job = job
        self.attempt = attempt
        self.ended = ended
        self.seconds = seconds
    }
}

/// The reason why an item failed, as failures are grouped.
package struct ItemFailure: Sendable, Hashable {
    /// The stage that failed; nil for a row that could not be begun.
    package let stage: String?
    package let failure: StepFailure
    /// True for a submit of which nothing was heard because its process ended. It counts when it comes to that, and is not
    /// kept.
    package var wasCutOff = false

    package init(stage: String?, failure: StepFailure) {
        self.stage = stage
        self.failure = failure
    }

    /// The status by which failures are alike: of an answer that says no. One that is good says nothing of why its content was
    /// judged a failure.
    package var refusal: Int? { failure.status.flatMap { $0 >= 400 ? $0 : nil } }

    /// Failures of one group are told once: the stage, and the status of a refusal or else the sentence, without what is the
    /// item's own in it.
    package func group(of key: String) -> Group {
        Group(stage: stage, code: refusal.map(String.init) ?? CommonTitle.make(of: failure.title, key: key))
    }

    /// The stage and the status of a refusal, or the sentence where there is none, as ``CommonTitle`` has it.
    package struct Group: Sendable, Hashable {
        package let stage: String?
        package let code: String

        package init(stage: String?, code: String) {
            self.stage = stage
            self.code = code
        }
    }
}

extension ItemRecord {
    /// The group by which its failure counts among those in a row: nil where it says nothing of the service, as of a row that
    /// could not be begun and of a submit whose process ended.
    package var streakGroup: ItemFailure.Group? {
        guard [.failed, .unknown].contains(state), failure?.wasCutOff == false else { return nil }
        return failureGroup.flatMap { $0.stage == nil ? nil : $0 }
    }

    /// The group of its failure; nil without one. All are alike that are unknown at a stage, whatever became of their submits.
    package var failureGroup: ItemFailure.Group? {
        failure.map { state == .unknown ? ItemFailure.Group(stage: $0.stage, code: state.rawValue) : $0.group(of: key) }
    }
}
