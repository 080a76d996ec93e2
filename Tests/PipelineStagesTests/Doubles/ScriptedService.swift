import HTTPTypes
import PipelineHTTP
import PipelineTestKit
import Synchronization

/// A service of which a test says what it answers: to each method and path a row of answers, the last one for ever.
final class ScriptedService: Sendable {
    enum Reply: Sendable {
        case answer(Int, String, [String: String])
        case failure(ExchangeFailure)
    }

    private let replies = Mutex<[String: [Reply]]>([:])
    private let sent = Mutex<[RequestDescription]>([])
    private let options = Mutex<[ExchangeOptions]>([])

    /// What was sent, decorated, in order.
    var requests: [RequestDescription] { sent.withLock { $0 } }
    /// The options of each.
    var sentOptions: [ExchangeOptions] { options.withLock { $0 } }
    /// Method and path of each.
    var lines: [String] { requests.map(Self.line) }

    var network: Network {
        Network(
            transport: ScriptedTransport { request, options async throws(ExchangeFailure) in
                try self.reply(to: request, options)
            })
    }

    func on(_ line: String, _ status: Int, _ body: String = "", headers: [String: String] = [:]) {
        replies.withLock { $0[line, default: []].append(.answer(status, body, headers)) }
    }

    func on(_ line: String, fails reason: ExchangeFailure.Reason, connectionMade: Bool = true) {
        let failure = ExchangeFailure(reason, message: "The wire broke.", connectionMade: connectionMade)
        replies.withLock { $0[line, default: []].append(.failure(failure)) }
    }

    /// Forgets what was scripted for a line.
    func reset(_ line: String) { replies.withLock { $0[line] = nil } }

    private func reply(
        to request: RequestDescription, _ options: ExchangeOptions
    ) throws(ExchangeFailure) -> HTTPExchangeResponse {
        sent.withLock { $0.append(request) }
        self.options.withLock { $0.append(options) }
        let line = Self.line(request)
        let reply = replies.withLock { replies -> Reply? in
            guard var row = replies[line], let first = row.first else { return nil }
            if row.count > 1 {
                row.removeFirst()
                replies[line] = row
            }
            return first
        }
        switch reply {
        case .answer(let status, let body, let headers):
            var fields = HTTPFields()
            for (name, value) in headers { if let field = HTTPField.Name(name) { fields[field] = value } }
            return HTTPExchangeResponse(status: status, headers: fields, body: Array(body.utf8), url: request.url)
        case .failure(let failure): throw failure
        case nil:
            throw ExchangeFailure(.invalidRequest("unscripted"), message: "The test has no answer to \(line).")
        }
    }

    private static func line(_ request: RequestDescription) -> String {
        let path = URLParts(request.url)?.path ?? request.url
        return "\(request.method.rawValue) \(path)"
    }
}

extension RequestDescription {
    /// The value of a header field.
    func header(_ name: String) -> String? { HTTPField.Name(name).flatMap { headers[$0] } }

    /// The body as text.
    var text: String {
        body.segments.map { segment in
            switch segment {
            case .bytes(let bytes): String(decoding: bytes, as: UTF8.self)
            case .file(let path, let offset, let length): "<\(path) \(offset)+\(length)>"
            case .gzip(let content): "<gzip \(content.length)>"
            case .base64(let path, let fileSize): "<base64 of \(path), \(fileSize)>"
            case .lines(let path, let length): "<lines of \(path), \(length)>"
            }
        }.joined()
    }
}
