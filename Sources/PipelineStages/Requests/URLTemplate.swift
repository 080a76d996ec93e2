import JSONPath
import PipelineCore

/// The URL of a request as the document has it: text and values apart, so that what a value brings in can be told
/// from what the author wrote.
struct URLTemplate: Sendable {
    typealias Piece = Template.Piece

    let pieces: [Piece]
    /// True if the author wrote scheme and host out.
    let hasLiteralOrigin: Bool
    /// True if values of answers stand in it.
    let readsCaptures: Bool
    /// The captures of stages that stand in it.
    let captures: [Reference]
    /// True if the item stands in it, which an answer may have given too.
    let readsItem: Bool
    let range: SourceRange

    /// A URL that came as a whole, from an answer.
    init(captured url: String) {
        pieces = [.literal(url)]
        hasLiteralOrigin = false
        readsCaptures = true
        captures = []
        readsItem = false
        range = SourceRange(start: 0, end: 0)
    }

    init(_ template: Template, at range: SourceRange) {
        pieces = template.pieces
        self.range = range
        hasLiteralOrigin = Self.hasOrigin(pieces)
        readsCaptures = template.references.contains(where: \.isCapture)
        captures = template.references.filter { $0.captureStage != nil }
        readsItem = template.references.contains { $0.root == .item }
    }

    /// The values that stand in it.
    var references: [Reference] {
        pieces.flatMap { piece -> [Reference] in
            if case .value(let expression) = piece { expression.references } else { [] }
        }
    }

    /// The stages whose captures stand in it.
    var captureStages: [String] { captures.compactMap(\.captureStage) }

    /// True if it begins with a value that an earlier response to the same stage gave: a link, most likely.
    var beginsWithOwnCapture: Bool {
        guard case .value(let expression)? = pieces.first else { return false }
        return expression.references.contains { if case .own = $0.root { true } else { false } }
    }

    /// How a fresh one is had if it is a link that is no longer good; nil where it is none. A stage can't renew itself.
    ///
    /// - Parameter restart: the command that begins the stage again.
    func renewal(restart: String) -> String? {
        if !captures.isEmpty { return "the link may have expired: \"renew\": STAGE gets a fresh one" }
        guard beginsWithOwnCapture else { return nil }
        return "the link, which this stage was given, may have expired: '\(restart)' begins the stage again"
    }

    /// The text with which the URL begins, when it does not begin with a value.
    var start: String? { if case .literal(let text)? = pieces.first { text } else { nil } }

    /// The first piece that the author wrote with what no URL may have: a space or a control character (RFC 3986, section 2).
    var unsendable: String? {
        for case .literal(let text) in pieces where text.utf8.contains(where: { $0 <= 32 || $0 == 127 }) { return text }
        return nil
    }

    /// The text that the author wrote, a line break standing for each value.
    var literals: String {
        pieces.map { if case .literal(let text) = $0 { text } else { "\n" } }.joined()
    }

    private static func hasOrigin(_ pieces: [Piece]) -> Bool {
        // A path at the service names no origin, whatever stands in it.
        guard case .literal(let start)? = pieces.first, start.utf8.first != UInt8(ascii: "/"),
            let scheme = start.firstRange(of: "://")
        else { return false }
        return pieces.count == 1 || start[scheme.upperBound...].contains { $0 == "/" || $0 == "?" }
    }

    /// The text in a scope. A value that brings a space or a control character in is a failure; so is one that brings
    /// `?`, `#` or a segment `.` or `..` into a path. A value at the very start may be a whole URL with a query of its
    /// own.
    func text(in scope: Scope) throws(EvaluationFailure) -> String {
        var text = ""
        var isInQuery = false
        var values: [BroughtValue] = []
        for (position, piece) in pieces.enumerated() {
            switch piece {
            case .literal(let literal):
                text += literal
                isInQuery = isInQuery || literal.contains("?")
            case .value(let expression):
                let value = try expression.evaluateText(in: scope)
                try check(value, of: expression, mayHoldQuery: position == 0 || isInQuery, isStart: position == 0)
                // A whole URL says itself where it leads.
                if position > 0 || !value.contains("://") {
                    let start = text.utf8.count
                    values.append(BroughtValue(range: start..<start + value.utf8.count, expression: expression))
                }
                text += value
                isInQuery = isInQuery || (position == 0 && value.contains("?"))
            }
        }
        try checkSegments(of: text, values)
        return text
    }

    /// The place of a value in the text, in bytes.
    private struct BroughtValue {
        let range: Range<Int>
        let expression: Expression
    }

    /// Refuses a segment that leads out of the path (RFC 3986, section 5.2.4) if a value has a part in it. What
    /// `urlencode` made is meant as a name.
    private func checkSegments(of text: String, _ values: [BroughtValue]) throws(EvaluationFailure) {
        guard !values.isEmpty else { return }
        let bytes = Array(text.utf8)
        var start = 0
        if let colon = bytes.indices.first(where: { bytes[$0...].starts(with: "://".utf8) }) { start = colon + 3 }
        let end = bytes.firstIndex { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") } ?? bytes.count
        while start < end {
            let stop = bytes[start..<end].firstIndex(of: UInt8(ascii: "/")) ?? end
            let segment = start..<stop
            start = stop + 1
            guard let name = Self.dots(bytes[segment]) else { continue }
            let own = values.filter { $0.range.overlaps(segment) }
            guard let value = own.first, !(value.expression.isURLEncoded && value.range == segment) else { continue }
            let isStart = value.range.lowerBound == 0
            throw .wrong(
                message:
                    "the value of \(value.expression.text) brings the segment '\(name)' into the path, which leads out "
                    + "of it",
                hint: isStart
                    ? "a URL must come without such segments"
                    : "if it is a name, encode it: ${{ urlencode(\(value.expression.text)) }}",
                range: value.expression.place)
        }
    }

    /// `.` or `..` as what a segment stands for, its dots plain or as `%2e`; nil for any other.
    private static func dots(_ segment: ArraySlice<UInt8>) -> String? {
        guard (1...6).contains(segment.count), let first = segment.first,
            first == UInt8(ascii: ".") || first == UInt8(ascii: "%")
        else { return nil }
        let plain = String(decoding: segment, as: UTF8.self).lowercased().replacing("%2e", with: ".")
        return plain == "." || plain == ".." ? plain : nil
    }

    private func check(
        _ value: String, of expression: Expression, mayHoldQuery: Bool, isStart: Bool
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
            throw .wrong(
                message: "the value of \(expression.text) brings \(name) into the URL",
                hint: isStart ? "a URL must come encoded" : "encode it: ${{ urlencode(\(expression.text)) }}",
                range: expression.place)
        }
    }
}

extension Reference {
    /// The stage whose captures it reads; nil for any other value.
    var captureStage: String? { if case .capture(let stage, _) = root { stage } else { nil } }

    /// True for what a response gave, to another stage or to its own.
    var isCapture: Bool {
        switch root {
        case .capture, .own: true
        default: false
        }
    }

    /// True for what is another value once a stage has run again for fresh captures: a capture, or the item.
    var isRenewable: Bool { captureStage != nil || root == .item }

    /// The capture that it reads, all those of the stage where its name is computed, or the item; nil for any other value.
    func renewable(in scope: Scope) -> JSON? {
        if root == .item { return scope.item }
        guard case .capture(let stage, let name) = root, let captures = scope.stages[stage] else { return nil }
        return name.map { captures[$0] ?? .null } ?? captures
    }
}
