import PipelineCore

/// The progress of watching a remote job. What the submit gave is in the ledger and the step's captures.
struct ComputeCheckpoint: Codable, Sendable {
    /// True if the submit is known to be accepted.
    var isSubmitted = false
    /// Polls that were answered usefully.
    var polls = 0
    /// Polls in a row that were not.
    var failures = 0
    /// The number of seconds after the step's start at which the submit was known to be accepted; nil in checkpoints of
    /// version 0.1.0.
    var secondsToSubmit: Double?
    /// The doubts about answers that have been told.
    var told: [String]?
    /// The place where a stream of events goes on; nil before it was opened.
    var stream: StreamPosition?
    /// True if what the document takes out of a callback is among the captures.
    var isCallbackKept: Bool?
    /// Without `poll`: the URL that a 202 named.
    var monitor: String?
    /// Without `poll`: whether the answer to the submit was the result.
    var isEnded = false
    /// Without `poll`: true if the answer that accepted the job named no place to ask at and was no end. Nil where no
    /// answer did, for a person said what became of the submit, and in checkpoints of before.
    var isLeftOpen: Bool?
    /// The last word of the service on the job's end.
    var foretold: ForetoldEnd?

    /// The place where the end of a job without `poll` is to be had, as the answer that showed it to be accepted says.
    enum EndPlace {
        /// That answer was the end.
        case here
        case at(String)
        /// Neither the service nor the document says where to ask for it.
        case nowhere
    }

    /// The place where a job without `poll` ends, once it is submitted.
    var endPlace: EndPlace {
        if let monitor, !isEnded { return .at(monitor) }
        return isLeftOpen == true ? .nowhere : .here
    }

    /// When the service took the job, or the step began where that is not known. What came before, a service that was
    /// away or full, says nothing of how fast the job goes on.
    func begin(of facts: StageFacts) -> Timestamp { facts.started + .seconds(secondsToSubmit ?? 0) }
}

extension StepRecord {
    /// True if a service has said where the end of the step's remote job is to be asked for.
    package var hasMonitor: Bool {
        checkpoint.flatMap { try? CheckpointCoding<ComputeCheckpoint>.json.decode($0) }?.monitor != nil
    }
}
