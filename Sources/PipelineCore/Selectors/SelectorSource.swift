import JSONPath

/// The part of a response at which one selector looks, and how.
enum SelectorSource: Sendable {
    /// JSONPath on the body.
    case query(JSONPathQuery)
    /// JSONPath on the items of all pages; its root is the array.
    case items(JSONPathQuery)
    case pointer(JSONPointer)
    case header(String)
    case status
    case url
    case text
    /// The first group, or the whole match of a pattern without groups.
    case pattern(LinearRegex)
    case xml(XMLPath)

    /// More matches of a pattern than anybody means; each costs a search.
    static let mostMatches = 10_000

    /// Returns what it finds, in order, but no more than `limit`. An answer that cannot be looked into gives the
    /// reason.
    func matches(in answer: ServiceResponse, limit: Int) -> Result<[JSON], Obstacle> {
        switch self {
        case .query(let query): body(of: answer).flatMap { Self.nodes(of: query, in: $0, limit: limit) }
        case .items(let query): items(of: answer).flatMap { Self.nodes(of: query, in: $0, limit: limit) }
        case .pointer(let pointer): body(of: answer).map { pointer.value(in: $0).map { [$0] } ?? [] }
        case .header(let name): .success(answer.header(name).map(JSON.string))
        case .status: .success([.number(JSONNumber(answer.status))])
        case .url: .success([.string(answer.url)])
        case .text: .success([.string(answer.text)])
        case .pattern(let pattern): .success(Self.texts(of: pattern, in: answer.text, limit: limit).map(JSON.string))
        case .xml(let path): xml(path, in: answer)
        }
    }

    /// The reason why an answer cannot be looked into.
    enum Obstacle: Error, Hashable {
        case notJSON(String)
        case notXML(String)
        case empty
        case noItems
        case query(JSONPathEvaluationError)

        var finding: String {
            switch self {
            case .notJSON(let reason): "cannot be looked up: the body is not JSON (\(reason))"
            case .notXML(let reason): "cannot be looked up: the body is not XML that is read here (\(reason))"
            case .empty: "matches nothing"
            case .noItems: "cannot be looked up: there are no pages"
            case .query(let error): "cannot be looked up: \(error.message)"
            }
        }

        /// True if the body is not of the form that the selector reads.
        var isUnreadable: Bool {
            switch self {
            case .notJSON, .notXML: true
            case .empty, .noItems, .query: false
            }
        }

        /// Advice on what to do about it; nil where the selector itself may be mended.
        var hint: String? {
            switch self {
            case .notJSON:
                "look at what was sent: is the path right? \"text\" and \"regex:…\" take values out of any text"
            case .notXML:
                "look at what was sent: is the path right? \"text\" and \"regex:…\" take values out of any text"
            case .empty, .noItems, .query: nil
            }
        }
    }

    func body(of answer: ServiceResponse) -> Result<JSON, Obstacle> {
        guard !answer.body.isEmpty else { return .failure(.empty) }
        do throws(JSONSyntaxError) {
            return .success(try answer.json())
        } catch {
            return .failure(.notJSON("at byte \(error.offset), \(error.message)"))
        }
    }

    private func items(of answer: ServiceResponse) -> Result<JSON, Obstacle> {
        answer.items.map { .success($0) } ?? .failure(.noItems)
    }

    private static func nodes(of query: JSONPathQuery, in document: JSON, limit: Int) -> Result<[JSON], Obstacle> {
        do throws(JSONPathEvaluationError) {
            return .success(try query.nodes(in: document, limit: limit))
        } catch {
            return .failure(.query(error))
        }
    }

    private func xml(_ path: XMLPath, in answer: ServiceResponse) -> Result<[JSON], Obstacle> {
        guard !answer.body.isEmpty else { return .failure(.empty) }
        do throws(XMLFailure) {
            return .success(try path.texts(in: answer.body).map(JSON.string))
        } catch {
            return .failure(.notXML("at byte \(error.offset), \(error.message)"))
        }
    }

    /// Every match that follows the one before it; an empty one moves on by a character.
    private static func texts(of pattern: LinearRegex, in text: String, limit: Int) -> [String] {
        var texts: [String] = []
        var rest = Substring(text)
        while texts.count < min(limit, mostMatches) {
            let remaining = String(rest)
            guard let match = pattern.firstMatch(in: remaining) else { break }
            texts.append((match.groups.first ?? match.text) ?? "")
            var end = match.range.upperBound
            if match.range.isEmpty {
                guard end < remaining.endIndex else { break }
                end = remaining.unicodeScalars.index(after: end)
            }
            rest = remaining[end...]
        }
        return texts
    }
}
