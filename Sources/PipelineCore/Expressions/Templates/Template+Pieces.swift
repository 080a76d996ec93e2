package import JSONPath

extension Template {
    /// A stretch of a template.
    package enum Piece: Sendable {
        /// Text of the author's, `$${{` undone.
        case literal(String)
        /// One `${{ … }}`.
        case value(Expression)
    }

    /// Text and values apart, in their order: for whoever treats what a value brings in otherwise than what the author
    /// wrote.
    package var pieces: [Piece] {
        parts.map { part in
            switch part {
            case .literal(let text): .literal(text)
            case .expression(let expression): .value(expression)
            }
        }
    }
}

extension Expression {
    /// The place where it stands in its file.
    package var place: SourceRange { origin.source(of: SourceRange(start: 0, end: text.utf8.count)) }

    /// True if it is `urlencode(…)` as a whole.
    package var isURLEncoded: Bool { if case .call(.urlencode, _) = root.kind { true } else { false } }

    /// Its value as it is put into a text, see ``Template/evaluateText(in:)``.
    public func evaluateText(in scope: Scope) throws(EvaluationFailure) -> String {
        let value = try evaluate(in: scope)
        if let scalar = value.scalarText { return scalar }
        let whole = SourceRange(start: 0, end: text.utf8.count)
        let shown = self.text(of: whole)
        let hint =
            switch value {
            case .null: ExpressionEvaluator(expression: self, scope: scope).advice(onNull: root, fallback: "''")
            case .array: "\(shown)[0] is its first element; json(\(shown)) makes all of it a text"
            default: "json(\(shown)) makes it a text"
            }
        throw .wrong(
            message: "\(shown) is \(value.kindName) and cannot be put into a text", hint: hint, range: place)
    }
}
