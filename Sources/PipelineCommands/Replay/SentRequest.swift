import HTTPTypes
import JSONPath
import PipelineCore
import PipelineHTTP

/// A request of a replayed run, to be compared with a recorded one.
struct SentRequest {
    private let method: String
    private let url: String
    private let headers: [NamedText]
    private let body: [UInt8]
    private let bodySize: Int64
    private let redactor: Redactor

    init(_ request: RequestDescription, redactor: Redactor) {
        method = request.method.rawValue
        url = request.url
        var fields = request.headers.map { NamedText($0.name.rawName, $0.value) }
        if case .multipart(let form) = request.body, request.headers[.contentType] == nil {
            fields.append(NamedText("Content-Type", form.contentType))
        }
        headers = fields
        body = (try? request.body.prefix(RecordedBody.limit)) ?? []
        bodySize = request.body.length
        self.redactor = redactor
    }

    var title: String { redactor.redact("\(method) \(url)") }

    /// Returns whether nothing differs.
    func isSame(_ exchange: Recording.Exchange) -> Bool {
        hasPlace(of: exchange) && differences(from: exchange).isEmpty
    }

    /// Returns whether method and URL are those of the exchange.
    func hasPlace(of exchange: Recording.Exchange) -> Bool {
        method == exchange.method && TextPattern(exchange.url).matches(url)
    }

    /// Returns whether method and path are.
    func hasPath(of exchange: Recording.Exchange) -> Bool {
        method == exchange.method && TextPattern(Self.path(exchange.url)).matches(Self.path(url))
    }

    private static func path(_ url: String) -> String { String(url.prefix { $0 != "?" && $0 != "#" }) }

    /// Returns what differs, secrets redacted; empty for nothing.
    func differences(from exchange: Recording.Exchange) -> [String] {
        let boundary = Self.boundary(exchange.headers)
        var old = ["\(exchange.method) \(exchange.url)"]
        old += Self.lines(of: exchange.headers).map { Self.hide(boundary, in: $0) }
        old += Self.lines(of: Array(Self.hide(boundary, in: exchange.body).utf8))
        var new = ["\(method) \(url)"]
        // A token that is fetched is put in after the request was recorded.
        let names = Set(exchange.headers.map { $0.name.lowercased() })
        let hasToken = names.contains("authorization")
        new += Self.lines(of: headers.filter { $0.name.lowercased() != "authorization" || hasToken })
        let isText = String(validating: body, as: UTF8.self) != nil || bodySize > Int64(body.count)
        new += isText && !exchange.body.isEmpty || exchange.bodySize == 0 ? Self.lines(of: body) : []
        if exchange.body.isEmpty, exchange.bodySize != bodySize {
            old.append("a body of \(exchange.bodySize) bytes")
            new.append("a body of \(bodySize) bytes")
        }
        return LineDifference.lines(from: old, to: new).map { redactor.redact($0) }
    }

    private static func lines(of fields: [NamedText]) -> [String] {
        fields.map { "\($0.name.lowercased()): \($0.value)" }.sorted()
    }

    /// JSON member by member, other text line by line.
    private static func lines(of body: [UInt8]) -> [String] {
        if body.isEmpty { return [] }
        let text = (try? JSON.parse(body)).map { $0.prettyText() } ?? String(decoding: body, as: UTF8.self)
        return text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    /// The boundary of a form, which is another one in each job.
    private static func boundary(_ headers: [NamedText]) -> String? {
        let type = headers.first { $0.name.lowercased() == "content-type" }?.value ?? ""
        guard let place = type.firstRange(of: "boundary=") else { return nil }
        let text = type[place.upperBound...].prefix { $0 != ";" && $0 != "\"" }
        return text.isEmpty ? nil : String(text)
    }

    private static func hide(_ boundary: String?, in text: String) -> String {
        boundary.map { text.replacing($0, with: "‹boundary›") } ?? text
    }
}
