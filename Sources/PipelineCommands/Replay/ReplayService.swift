import HTTPTypes
import JSONPath
import PipelineCore
import PipelineHTTP
import PipelineSimulation
import Synchronization

/// The far end of a replayed run: gives each request the response that was recorded for it, and notes what differs.
///
/// A request takes the first exchange with its content that is left, or one with its content that was taken before. Where
/// there is none, it takes one of its method and URL that is left, or of its method and path, and what differs is told.
final class ReplayService: SimulatedService {
    /// One request that came.
    struct Request: Sendable {
        let title: String
        /// The place of the exchange that it took; nil when none was recorded for it.
        let exchange: Int?
        /// True for one that had come before with the same content.
        let isRepeated: Bool
        /// Lines with `-` for what was recorded and `+` for what came.
        let differences: [String]
    }

    private struct State {
        var left: Set<Int>
        var requests: [Request] = []
    }

    private let recording: Recording
    private let redactor: Redactor
    private let state: Mutex<State>

    init(_ recording: Recording, redactor: Redactor) {
        self.recording = recording
        self.redactor = redactor
        let asked = recording.exchanges.indices.filter { recording.exchanges[$0].callback == nil }
        state = Mutex(State(left: Set(asked)))
    }

    /// All requests, in their order.
    var requests: [Request] { state.withLock { $0.requests } }
    /// The places of the exchanges that nothing asked for.
    var left: [Int] { state.withLock { $0.left.sorted() } }

    func willReceive(_ request: RequestDescription, from owner: OwnerID) {}

    func answer(_ request: ArrivedRequest, at time: Timestamp) -> HTTPExchangeResponse {
        let sent = SentRequest(request.description, redactor: redactor)
        let exchange: Int? = state.withLock { state in
            let (place, isRepeated) = choose(sent, state.left)
            let differences = place.map { sent.differences(from: recording.exchanges[$0]) } ?? []
            state.requests.append(
                Request(title: sent.title, exchange: place, isRepeated: isRepeated, differences: differences))
            if let place { state.left.remove(place) }
            return place
        }
        guard let exchange else {
            let message: JSON = ["error": "the recording has no response to this request"]
            return HTTPExchangeResponse(status: 400, body: Array(message.text.utf8))
        }
        return response(recording.exchanges[exchange])
    }

    private func choose(_ sent: SentRequest, _ left: Set<Int>) -> (place: Int?, isRepeated: Bool) {
        let exchanges = recording.exchanges
        let places = left.sorted()
        if let place = places.first(where: { sent.isSame(exchanges[$0]) }) { return (place, false) }
        // A run that was killed asks again for what it had asked: what is left of the same URL may be another operation's.
        let used = exchanges.indices.filter { !left.contains($0) && exchanges[$0].callback == nil }
        if let place = used.last(where: { sent.isSame(exchanges[$0]) }) { return (place, true) }
        if let place = places.first(where: { sent.hasPlace(of: exchanges[$0]) }) { return (place, false) }
        return (places.first { sent.hasPath(of: exchanges[$0]) }, false)
    }

    /// The response as it would come; the archive has it decoded.
    private func response(_ exchange: Recording.Exchange) -> HTTPExchangeResponse {
        guard exchange.status > 0 else { return HTTPExchangeResponse(status: 503) }
        let isCoded = exchange.responseHeaders.contains { $0.name.lowercased() == "content-encoding" }
        let filled = Self.filled(exchange.response)
        // The length is that of what came, not of what stands here.
        let isOther = isCoded || filled != nil
        var headers = HTTPFields()
        for field in exchange.responseHeaders {
            let name = field.name.lowercased()
            if ["content-encoding", "transfer-encoding"].contains(name) || isOther && name == "content-length" {
                continue
            }
            guard let known = HTTPField.Name(field.name) else { continue }
            let value = Self.filled(Array(field.value.utf8)).map { String(decoding: $0, as: UTF8.self) }
            headers.append(HTTPField(name: known, value: value ?? field.value))
        }
        if let filled { return HTTPExchangeResponse(status: exchange.status, headers: headers, body: filled) }
        var body = exchange.response
        // What was too long to be recorded is filled up, so that at least its length is right.
        let missing = Int(exchange.responseSize) - body.count
        if missing > 0, !isCoded, missing < 1 << 30 { body += Array(repeating: 0, count: missing) }
        return HTTPExchangeResponse(status: exchange.status, headers: headers, body: body)
    }

    /// The text with a value in the place of each secret that was redacted: a URL where it stands alone, since captured
    /// secrets are links most of the time. Nil where none was.
    private static func filled(_ bytes: [UInt8]) -> [UInt8]? {
        guard bytes.firstRange(of: Array("‹secret:".utf8)) != nil, let text = String(validating: bytes, as: UTF8.self)
        else { return nil }
        let filled =
            text
            .replacing(/"‹secret:([^›]+)›"/) { "\"https://redacted.test/\($0.output.1)\"" }
            .replacing(/^‹secret:([^›]+)›$/) { "https://redacted.test/\($0.output.1)" }
            .replacing(/‹secret:([^›]+)›/) { "redacted-\($0.output.1)" }
        return Array(filled.utf8)
    }
}
