import HTTPTypes
import PipelineCore

/// The mark that tells one version of a resource from another, strongly enough to put bytes of two answers together.
enum Validator: Codable, Sendable, Hashable {
    /// A strong entity tag, with its quotes.
    case entityTag(String)
    /// A date of modification, as the server wrote it.
    case modified(String)

    /// The strong validator of an answer, the entity tag if there is one; nil when it has none.
    ///
    /// A date is strong only when it is at least a second older than the answer's own `Date`: the file may have changed
    /// twice in one second (RFC 9110, section 8.8.2.2).
    init?(_ headers: HTTPFields) {
        let quote = UInt8(ascii: "\"")
        // An empty tag tells nothing apart: servers that give it give it to each version.
        if let tag = headers[.eTag], tag.utf8.count > 2, tag.utf8.first == quote, tag.utf8.last == quote {
            self = .entityTag(tag)
            return
        }
        guard let text = headers[.lastModified], let modified = Timestamp.httpDate(text),
            let sent = headers[.date].flatMap({ Timestamp.httpDate($0) }), sent - modified >= .seconds(1)
        else { return nil }
        self = .modified(text)
    }

    /// The value of `If-Range`.
    var text: String {
        switch self {
        case .entityTag(let text), .modified(let text): text
        }
    }

    /// Returns whether a part says of which version it is, as far as it must: a 206 has the entity tag that a 200 would
    /// have (RFC 9110, section 15.3.7). A server that leaves it out may have ignored `If-Range` too. A date need not be said
    /// again.
    func isNamed(by part: HTTPFields) -> Bool {
        if case .entityTag = self { part[.eTag] != nil } else { true }
    }

    /// True when an answer's fields show that it is of this version.
    func isConfirmed(by headers: HTTPFields) -> Bool {
        switch self {
        case .entityTag: headers[.eTag] != nil && agrees(with: headers)
        case .modified: headers[.lastModified] != nil && agrees(with: headers)
        }
    }

    /// False when an answer's fields show that it is of another version; what they don't say is no contradiction. Tags are
    /// compared byte by byte (RFC 9110, section 8.8.3.2).
    func agrees(with headers: HTTPFields) -> Bool {
        switch self {
        case .entityTag(let tag): headers[.eTag].map { $0.utf8.elementsEqual(tag.utf8) } ?? true
        case .modified(let date): headers[.lastModified].map { $0 == date } ?? true
        }
    }
}
