import HTTPTypes
import JSONPath
import PipelineHTTP
import PipelineTestKit
import Synchronization

/// A list of `{"id": n}` over a scripted transport: knows every way of paging at once, and counts what it is asked.
final class PageService: Sendable {
    struct State: Sendable {
        var count = 7
        var size = 3
        /// The path of the list.
        var url = "http://api.test/v1/items"
        /// Further members of each answer, by the number of the request.
        var extra: @Sendable (Int) -> String = { _ in "" }
        /// Further members of each item.
        var itemMembers = ""
        /// Instead of the usual answer, by the number of the request from 1.
        var answers: [Int: HTTPExchangeResponse] = [:]
        var failures: [Int: ExchangeFailure] = [:]
    }

    let state: Mutex<State>
    private let received = Mutex<[RequestDescription]>([])

    init(_ change: (inout State) -> Void = { _ in }) {
        var initial = State()
        change(&initial)
        state = Mutex(initial)
    }

    var requests: [RequestDescription] { received.withLock { $0 } }
    /// Queries in the order of arrival.
    var queries: [String] { requests.map { URLParts($0.url)?.query ?? "" } }

    var network: Network {
        Network(
            transport: ScriptedTransport { request, _ async throws(ExchangeFailure) in try self.answer(request) })
    }

    private func answer(_ request: RequestDescription) throws(ExchangeFailure) -> HTTPExchangeResponse {
        let number = received.withLock { received in
            received.append(request)
            return received.count
        }
        let state = state.withLock { $0 }
        if let failure = state.failures[number] { throw failure }
        if let answer = state.answers[number] { return answer }
        let start = start(of: request, size: state.size)
        let end = min(start + state.size, state.count)
        let more = state.itemMembers
        let items = start < end ? (start..<end).map { #"{"id": \#($0)\#(more)}"# }.joined(separator: ",") : ""
        let hasMore = end < state.count
        var headers = HTTPFields()
        headers[.contentType] = "application/json"
        let mark = state.url.contains("?") ? "&" : "?"
        if hasMore { headers[.link] = #"<\#(state.url)\#(mark)at=\#(end)>; rel="next""# }
        let next = hasMore ? #""next": "/v1/items?at=\#(end)", "cursor": "\#(end)","# : #""next": null,"#
        let body = #"{"data": [\#(items)], \#(next) \#(state.extra(number)) "more": \#(hasMore)}"#
        return HTTPExchangeResponse(
            status: 200, headers: headers, body: Array(body.utf8), url: request.url,
            bytesReceived: Int64(body.utf8.count))
    }

    private func start(of request: RequestDescription, size: Int) -> Int {
        for pair in (URLParts(request.url)?.query ?? "").split(separator: "&") {
            let halves = pair.split(separator: "=")
            guard halves.count == 2, let value = Int(halves[1]) else { continue }
            switch halves[0] {
            case "at", "after", "offset": return value
            case "page": return (value - 1) * size
            case "page0": return value * size
            default: break
            }
        }
        if let value = request.header("X-Cursor").flatMap({ Int($0) }) { return value }
        if case .bytes(let bytes) = request.body {
            if let cursor = (try? JSON.parse(bytes))?["after"]?.string.flatMap({ Int($0) }) { return cursor }
            let text = String(decoding: bytes, as: UTF8.self)
            if let mark = text.firstRange(of: "after=") { return Int(text[mark.upperBound...]) ?? 0 }
        }
        return 0
    }
}

extension HTTPField.Name {
    fileprivate static let link = HTTPField.Name("Link")!
}
