import JSONPath
import PipelineCore

/// The URL of a request as the document has it: text and values apart, so that what a value brings in can be told
/// from what the author wrote.
struct URLTemplate: Sendable {
    /// A stretch of the text.
    enum Piece: Sendable {
        case literal(String)
        case value(Template, range: SourceRange)
    }

    let pieces: [Piece]
    /// Whether the author wrote scheme and host out.
    let hasLiteralOrigin: Bool
    /// Whether values of answers stand in it.
    let readsCaptures: Bool
    let range: SourceRange

    /// A URL that came as a whole, from an answer.
    init(captured url: String) {
        pieces = [.literal(url)]
        hasLiteralOrigin = false
        readsCaptures = true
        range = SourceRange(start: 0, end: 0)
    }

    init(_ template: Template, at range: SourceRange) {
        var splitter = URLTemplateSplitter(template.text, at: range)
        pieces = splitter.pieces()
        self.range = range
        hasLiteralOrigin = Self.hasOrigin(pieces)
        readsCaptures = template.references.contains { reference in
            switch reference.root {
            case .capture, .own: true
            default: false
            }
        }
    }

    /// The text with which the URL begins, when it does not begin with a value.
    var start: String? { if case .literal(let text)? = pieces.first { text } else { nil } }

    /// What the author wrote, a line break standing for each value.
    var literals: String {
        pieces.map { if case .literal(let text) = $0 { text } else { "\n" } }.joined()
    }

    private static func hasOrigin(_ pieces: [Piece]) -> Bool {
        guard case .literal(let start)? = pieces.first, let scheme = start.firstRange(of: "://") else { return false }
        return pieces.count == 1 || start[scheme.upperBound...].contains { $0 == "/" || $0 == "?" }
    }

    /// The text in a scope. A value that brings a space or a control character in is a failure; so is one that brings
    /// `?` or `#` into a path. A value at the very start may be a whole URL with a query of its own.
    func text(in scope: Scope) throws(EvaluationFailure) -> String {
        var text = ""
        var isInQuery = false
        for (position, piece) in pieces.enumerated() {
            switch piece {
            case .literal(let literal):
                text += literal
                isInQuery = isInQuery || literal.contains("?")
            case .value(let template, let range):
                let value = try template.evaluateText(in: scope)
                try check(value, of: template, mayHoldQuery: position == 0 || isInQuery, isStart: position == 0, range)
                text += value
                isInQuery = isInQuery || (position == 0 && value.contains("?"))
            }
        }
        return text
    }

    private func check(
        _ value: String, of template: Template, mayHoldQuery: Bool, isStart: Bool, _ range: SourceRange
    ) throws(EvaluationFailure) {
        for scalar in value.unicodeScalars {
            let name: String? =
                switch scalar {
                case " ": "a space"
                case "?" where !mayHoldQuery: "a '?'"
                case "#" where !isStart: "a '#'"
                default: scalar.value < 32 || scalar.value == 127 ? "a control character" : nil
                }
            guard let name else { continue }
            let expression = template.text.dropFirst(3).dropLast(2).trimmingSpaces
            throw .wrong(
                message: "the value of \(expression) brings \(name) into the URL",
                hint: isStart ? "a URL must come encoded" : "encode it: ${{ urlencode(\(expression)) }}", range: range)
        }
    }
}

extension Substring {
    fileprivate var trimmingSpaces: String {
        String(drop { $0.isWhitespace }.reversed().drop { $0.isWhitespace }.reversed())
    }
}

/// Cuts a template that is known to be sound into text and values, by the rules of templates.
private struct URLTemplateSplitter {
    private let bytes: [UInt8]
    private let range: SourceRange
    private var literal: [UInt8] = []
    private var found: [URLTemplate.Piece] = []

    init(_ text: String, at range: SourceRange) {
        bytes = Array(text.utf8)
        self.range = range
    }

    mutating func pieces() -> [URLTemplate.Piece] {
        var position = 0
        while position < bytes.count {
            let rest = bytes[position...]
            if rest.starts(with: "$${{".utf8) {
                literal += Array("${{".utf8)
                position += 4
            } else if rest.starts(with: "${{".utf8) {
                let end = end(of: position)
                append(position..<end)
                position = end
            } else {
                literal.append(bytes[position])
                position += 1
            }
        }
        finishLiteral()
        return found
    }

    private mutating func append(_ stretch: Range<Int>) {
        finishLiteral()
        let text = String(decoding: bytes[stretch], as: UTF8.self)
        // One more for the opening quote: each value keeps a place of its own, by which `uuid()` is journaled.
        let place = SourceRange(start: range.start + 1 + stretch.lowerBound, end: range.start + 1 + stretch.upperBound)
        guard let template = try? Template.parse(text, in: place) else { return }
        found.append(.value(template, range: place))
    }

    private mutating func finishLiteral() {
        guard !literal.isEmpty else { return }
        found.append(.literal(String(decoding: literal, as: UTF8.self)))
        literal = []
    }

    private func end(of opener: Int) -> Int {
        var index = opener + 3
        var isInText = false
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: "'"): isInText.toggle()
            case UInt8(ascii: "\\") where isInText: index += 1
            case UInt8(ascii: "}") where !isInText && index + 1 < bytes.count && bytes[index + 1] == UInt8(ascii: "}"):
                return index + 2
            default: break
            }
            index += 1
        }
        return bytes.count
    }
}
