import JSONPath
import PipelineCore

/// The version of the protocol between `pipeline` and plugins that this program speaks.
package enum PluginProtocol { package static let version = 1 }

/// One message of a plugin's program. Members that this version does not know are passed over.
enum PluginMessage: Sendable {
    case description(JSONObject)
    case progress(StageProgress)
    case commit(JSON)
    case intent
    case submitted(JSONObject)
    case finished(JSONObject)
    case waiting(JSON, PluginWait, reason: String?)
    case unknown(JSON?, reason: String?)
    case failed(PluginRefusal)
    case cancelled
    case decorated(DecoratedRequest)
    case delivered

    /// Reads a line; what is no message is a fault.
    init(line: ArraySlice<UInt8>) throws(PluginFault) {
        let json: JSON
        do {
            json = try JSON.parse(line)
        } catch {
            throw Self.nonsense("a line that is not JSON", line)
        }
        guard case .object(let message) = json, let type = message["type"]?.string else {
            throw Self.nonsense("a line that is no object with a \"type\"", line)
        }
        switch type {
        case "description": self = .description(message)
        case "progress": self = .progress(try Self.progress(message, line))
        case "commit":
            guard let checkpoint = message["checkpoint"], checkpoint.object != nil else {
                throw Self.nonsense("a commit without an object as its \"checkpoint\"", line)
            }
            self = .commit(checkpoint)
        case "intent": self = .intent
        case "submitted": self = .submitted(try Self.captures(message, line))
        case "finished": self = .finished(try Self.captures(message, line))
        case "waiting": self = try Self.waiting(message, line)
        case "unknown":
            let checkpoint = message["checkpoint"].flatMap { $0.isNull ? nil : $0 }
            self = .unknown(checkpoint, reason: message["reason"]?.string)
        case "failed": self = .failed(try PluginRefusal(message, line))
        case "cancelled": self = .cancelled
        case "decorated": self = .decorated(try DecoratedRequest(message, line))
        case "delivered": self = .delivered
        default:
            let name = type.utf8.count > 80 ? "an unknown type" : "the unknown type '\(type)'"
            throw Self.nonsense("a message of \(name)", line)
        }
    }

    /// The word of the protocol.
    var type: String {
        switch self {
        case .description: "description"
        case .progress: "progress"
        case .commit: "commit"
        case .intent: "intent"
        case .submitted: "submitted"
        case .finished: "finished"
        case .waiting: "waiting"
        case .unknown: "unknown"
        case .failed: "failed"
        case .cancelled: "cancelled"
        case .decorated: "decorated"
        case .delivered: "delivered"
        }
    }

    /// The fault of a message that may not come at this moment.
    var outOfTurn: PluginFault {
        PluginFault(.nonsense, "sent '\(type)' at a moment when it means nothing")
    }

    static func nonsense(_ what: String, _ line: some Collection<UInt8>) -> PluginFault {
        PluginFault(
            .nonsense, "printed \(what)", of: String(decoding: line, as: UTF8.self),
            hint: "standard output is for the protocol alone; a log belongs on standard error")
    }

    private static func captures(
        _ message: JSONObject, _ line: ArraySlice<UInt8>
    ) throws(PluginFault) -> JSONObject {
        switch message["captures"] {
        case nil, .null?: return [:]
        case .object(let captures)?: return captures
        default: throw nonsense("'captures' that are no object", line)
        }
    }

    private static func progress(
        _ message: JSONObject, _ line: ArraySlice<UInt8>
    ) throws(PluginFault) -> StageProgress {
        guard let done = message["done"]?.number?.double, done >= 0 else {
            throw nonsense("progress without a number as its \"done\"", line)
        }
        let total = message["total"]?.number?.double
        let share = total.flatMap { $0 > 0 ? min(done / $0, 1) : nil }
        return .remote(share: share, secondsLeft: message["remaining"]?.number?.double)
    }

    private static func waiting(_ message: JSONObject, _ line: ArraySlice<UInt8>) throws(PluginFault) -> PluginMessage {
        guard let checkpoint = message["checkpoint"], checkpoint.object != nil else {
            throw nonsense("'waiting' without an object as its \"checkpoint\"", line)
        }
        let reason = message["reason"]?.string
        do throws(ValueSyntaxError) {
            if let text = message["for"]?.string {
                return .waiting(checkpoint, .length(try DurationText.parse(text)), reason: reason)
            }
            if let text = message["until"]?.string {
                return .waiting(checkpoint, .moment(try Timestamp.parse(text)), reason: reason)
            }
        } catch {
            throw nonsense("'waiting' with a time that can't be read (\(error.message))", line)
        }
        throw nonsense("'waiting' without \"for\" or \"until\"", line)
    }
}

/// The wait of a plugin's step.
enum PluginWait: Sendable {
    case length(Duration)
    case moment(Timestamp)
}

/// A plugin's own word that it failed.
struct PluginRefusal: Sendable {
    /// Whole, as the hint is: whoever shows it takes secrets out before it is cut.
    let message: String
    let hint: String?
    let isRetryable: Bool
    /// `"accepted": false` after a submit: the service has not taken it, for sure.
    let isKnownNotAccepted: Bool

    init(_ message: JSONObject, _ line: ArraySlice<UInt8>) throws(PluginFault) {
        guard let text = message["message"]?.string, !text.isEmpty else {
            throw PluginMessage.nonsense("'failed' without a \"message\"", line)
        }
        self.message = text
        hint = message["hint"]?.string
        isRetryable = message["retryable"]?.bool ?? false
        isKnownNotAccepted = message["accepted"]?.bool == false
    }
}
