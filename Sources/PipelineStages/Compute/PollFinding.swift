import JSONPath
import PipelineCore
import PipelineHTTP

/// The result of one poll.
enum PollFinding: Sendable {
    /// There is no such job, at least not here.
    case missing(StepFailure)
    case running(PollReport)
    /// The poll failed, which says nothing about the job.
    case failedPoll(detail: String, floor: Duration?)
    case succeeded(ServiceResponse)
    /// The service says that the job has ended without a result, in the answer.
    case ended(StepFailure, ServiceResponse)
    /// The service does not say how the job stands, and would not if it were asked again now: the job may go on there.
    case refused(StepFailure)

    /// True if nothing more is to be asked.
    var isEnd: Bool {
        switch self {
        case .missing, .succeeded, .ended, .refused: true
        case .running, .failedPoll: false
        }
    }
}

/// A poll that got no answer.
struct LostPoll: Sendable {
    let failure: StepFailure
    /// True if every further one would be lost in the same way.
    let isDefinite: Bool
    /// How long a token endpoint wants to be left alone.
    let floor: Duration?

    /// No answer says nothing about the job; only a request that can't be sent at all ends the stage.
    init(
        _ failure: ExchangeFailure, of rendered: RenderedRequest, by requests: StageRequests,
        in context: ComputeStage.Context
    ) throws(StageFailure) {
        guard case .failed(let failed) = requests.failure(failure, of: rendered, in: context) else { throw .stopped }
        self.failure = failed.failure
        floor = failed.retryAfter
        isDefinite =
            switch failure.reason {
            case .invalidRequest, .tokenRefused, .localRead, .localWrite, .sourceChanged, .bodyTooLarge,
                .tls(.localFile), .addressRefused, .bodyWithheld:
                true
            default: false
            }
    }
}

/// The report of a service on a job that has not ended.
struct PollReport: Sendable {
    /// From 0 to 1.
    var share: Double?
    var secondsLeft: Double?
    /// A server's Retry-After.
    var floor: Duration?
    var message: String?
    /// The place where the next poll goes, when the answer names another place.
    var monitor: String?
    /// The doubts about what is likely a mistake.
    var doubts: [PollDoubt] = []
    /// The values of the answer that the stage's next requests read.
    var captures = JSONObject()

    /// True if the answer may not be what it is read as.
    var isDoubtful: Bool { doubts.contains { $0.key != PollDoubt.lateKey } }

    init() {}

    /// A job that runs on, of which nothing new is known.
    init(after floor: Duration?) { self.floor = floor }

    /// A job that its service says it does not know, and may not know yet.
    init(unknownYet failure: StepFailure, floor: Duration? = nil) {
        self.floor = floor
        message = "\(failure.title): it may not know it yet"
    }

    /// The words that an estimate is made from.
    var words: Estimate.Words { Estimate.Words(secondsLeft: secondsLeft, share: share) }

    init(_ poll: PollDefinition, _ answer: ServiceResponse) {
        switch poll.progress {
        case .percentage(let selector): share = Self.number(selector.lenientValue(in: answer)).map { $0 / 100 }
        case .fraction(let selector): share = Self.number(selector.lenientValue(in: answer))
        case .ratio(let done, let total):
            let whole = Self.number(total.lenientValue(in: answer)) ?? 0
            if whole > 0 { share = Self.number(done.lenientValue(in: answer)).map { $0 / whole } }
        case nil: break
        }
        share = share.map { min(max($0, 0), 1) }
        secondsLeft = (poll.remaining?.lenientValue(in: answer)).flatMap(Self.number).map { max($0, 0) }
        message = (poll.message?.lenientValue(in: answer)).flatMap(ErrorMessage.text)
    }

    /// Numbers also come as strings, percentages with their sign.
    static func number(_ value: JSON) -> Double? {
        let number: Double? =
            switch value {
            case .number(let number): number.double
            case .string(let text): Double(text.hasSuffix("%") ? text.dropLast() : Substring(text))
            default: nil
            }
        return number.flatMap { $0.isFinite ? $0 : nil }
    }
}
