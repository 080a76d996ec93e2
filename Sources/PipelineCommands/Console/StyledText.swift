import PipelineKit

/// Text for a terminal: pieces, some of them in a style. Where a piece comes from does not matter: control characters in
/// it are made visible when it is written.
///
/// `"\("error:", .red) \(title)"` is one.
struct StyledText: ExpressibleByStringInterpolation, CustomStringConvertible, Sendable, Equatable {
    enum Style: Int, Sendable { case bold = 1, dim = 2, red = 31, green = 32, yellow = 33, cyan = 36 }

    struct Piece: Sendable, Equatable {
        var text: String
        let style: Style?
    }

    struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var pieces: [Piece] = []

        init(literalCapacity: Int, interpolationCount: Int) {}
        mutating func appendLiteral(_ literal: String) { append(literal, nil) }
        mutating func appendInterpolation(_ value: some CustomStringConvertible) { append("\(value)", nil) }
        mutating func appendInterpolation(_ text: String, _ style: Style?) { append(text, style) }
        mutating func appendInterpolation(_ text: StyledText) { pieces += text.pieces }

        private mutating func append(_ text: String, _ style: Style?) {
            if !text.isEmpty { pieces.append(Piece(text: text, style: style)) }
        }
    }

    private(set) var pieces: [Piece]

    init(_ text: String, _ style: Style? = nil) { pieces = text.isEmpty ? [] : [Piece(text: text, style: style)] }
    private init(_ pieces: [Piece]) { self.pieces = pieces }
    init(stringLiteral text: String) { self.init(text) }
    init(stringInterpolation: StringInterpolation) { pieces = stringInterpolation.pieces }

    /// The text without styles, harmless.
    var description: String { rendered(inColor: false) }
    var isEmpty: Bool { pieces.isEmpty }
    /// The number of columns that it takes.
    var columns: Int { pieces.reduce(0) { $0 + TextColumns.count(SafeText.line($1.text)) } }

    static func + (left: StyledText, right: StyledText) -> StyledText { "\(left)\(right)" }
    static func += (left: inout StyledText, right: StyledText) { left.pieces += right.pieces }

    /// The text as it is written: harmless, with SGR sequences (ECMA-48, 8.3.117) where colours are used.
    func rendered(inColor: Bool) -> String {
        pieces.map { piece in
            let text = SafeText.line(piece.text)
            guard inColor, let style = piece.style else { return text }
            return "\u{1B}[\(style.rawValue)m\(text)\u{1B}[0m"
        }.joined()
    }

    /// As much of it as fits into that many columns, with an ellipsis at the end of what was cut, and without blanks at
    /// its end.
    func fitted(to most: Int) -> StyledText {
        let whole = withoutTrailingBlanks
        guard whole.columns > most else { return whole }
        var rest = most
        var fitting: [Piece] = []
        for piece in whole.pieces {
            let width = TextColumns.count(piece.text)
            guard width < rest else {
                // One that just fits is followed by more, which takes an ellipsis.
                let text = TextColumns.fitted(width == rest ? piece.text + " " : piece.text, to: rest)
                fitting.append(Piece(text: text, style: piece.style))
                break
            }
            fitting.append(piece)
            rest -= width
        }
        return StyledText(fitting)
    }

    /// The text in one line that ends with what can be seen, harmless.
    private var withoutTrailingBlanks: StyledText {
        var rest = pieces.map { Piece(text: SafeText.line($0.text).replacing("\n", with: " "), style: $0.style) }
        while var last = rest.popLast() {
            while last.text.last == " " { last.text.removeLast() }
            if last.text.isEmpty { continue }
            rest.append(last)
            break
        }
        return StyledText(rest)
    }

    /// The text with blanks after it, of exactly that many columns.
    func padded(to wanted: Int) -> StyledText {
        let fitting = columns > wanted ? fitted(to: wanted) : self
        return fitting + StyledText(String(repeating: " ", count: max(0, wanted - fitting.columns)))
    }
}
