package import JSONPath
import Synchronization

/// A server's answer as selectors and expressions see it. The body is parsed at most once, when first asked for;
/// copies share it.
package struct ServiceResponse: Sendable {
    package let status: Int
    /// In the order of arrival; names in any case, a name as often as it came.
    package let headers: [(name: String, value: String)]
    /// The place where the answer came from, after redirects; absolute.
    package let url: String
    package let body: [UInt8]
    /// The items of all pages, for `$items`; nil for an answer that is not paginated.
    package let items: JSON?
    private let parsed: ParsedBody

    package init(
        status: Int, headers: [(name: String, value: String)] = [], url: String, body: [UInt8] = [], items: JSON? = nil
    ) {
        self.status = status
        self.headers = headers
        self.url = url
        self.body = body
        self.items = items
        parsed = ParsedBody()
    }

    /// The answer with another body, and without items.
    package func with(body: [UInt8]) -> ServiceResponse {
        ServiceResponse(status: status, headers: headers, url: url, body: body)
    }

    /// The answer with the items of all pages.
    package func with(items: JSON?) -> ServiceResponse {
        ServiceResponse(status: status, headers: headers, url: url, body: body, items: items)
    }

    /// The values of a header, each line one; names are compared without case (RFC 9110, section 5.1).
    package func header(_ name: String) -> [String] {
        let wanted = name.lowercased()
        return headers.filter { $0.name.lowercased() == wanted }.map(\.value)
    }

    /// The body as JSON, strictly (RFC 8259).
    package func json() throws(JSONSyntaxError) -> JSON { try parsed.value(of: body).get() }

    /// The body as text: UTF-8, or where it is none the Western charset that its Content-Type declares. Bytes that are
    /// neither become U+FFFD.
    package var text: String {
        if let text = String(validating: body, as: UTF8.self) { return text }
        let isWestern = header("Content-Type").contains(where: WesternText.isDeclared)
        return isWestern ? WesternText.decoded(body) : String(decoding: body, as: UTF8.self)
    }

    /// The value that expressions read as `response`: `status`, `headers` (of a name that came more than once the
    /// values, joined by `, ` as RFC 9110 section 5.3 has it) and `body` (JSON when it is, otherwise text, null when
    /// empty).
    package var responseValue: JSON {
        var fields = JSONObject()
        var places: [String: String] = [:]
        for (name, value) in headers {
            let place = places[name.lowercased()] ?? name
            places[name.lowercased()] = place
            fields[place] = .string(fields[place]?.string.map { "\($0), \(value)" } ?? value)
        }
        let content = body.isEmpty ? JSON.null : (try? json()) ?? .string(text)
        return ["status": .number(JSONNumber(status)), "headers": .object(fields), "body": content]
    }
}

extension ServiceResponse {
    /// The answer in a message: `the answer 200 of http://h/models/1`.
    var summary: String { "the answer \(status) of \(Self.shown(url))" }

    /// Queries of signed URLs and users hold secrets that no redactor knows.
    private static func shown(_ url: String) -> String {
        var parts = URLReference(url)
        if let authority = parts.authority, let at = authority.utf8.lastIndex(of: UInt8(ascii: "@")) {
            parts.authority = String(authority[authority.utf8.index(after: at)...])
        }
        if parts.query != nil { parts.query = "…" }
        parts.fragment = nil
        return parts.text
    }
}

/// The cache behind an answer; the lock is held while parsing, so that it happens once.
private final class ParsedBody: Sendable {
    private let result = Mutex<Result<JSON, JSONSyntaxError>?>(nil)

    func value(of body: [UInt8]) -> Result<JSON, JSONSyntaxError> {
        result.withLock { known in
            if let known { return known }
            let fresh = Result { () throws(JSONSyntaxError) in try JSON.parse(body) }
            known = fresh
            return fresh
        }
    }
}
