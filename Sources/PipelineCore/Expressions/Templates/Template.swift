public import JSONPath

/// A string with `${{ … }}` in it; `$${{` stands for a literal `${{`.
public struct Template: Sendable, Equatable {
    enum Part: Sendable, Equatable {
        case literal(String)
        case expression(Expression)
    }

    /// The text as written.
    public let text: String
    let parts: [Part]
    let origin: TextOrigin

    /// Everything that its expressions read, in the order of the text.
    package var references: [Reference] {
        parts.flatMap { part -> [Reference] in
            guard case .expression(let expression) = part else { return [] }
            return expression.references
        }
    }

    /// The string itself when it holds no expression.
    public var constant: String? {
        var text = ""
        for part in parts {
            guard case .literal(let literal) = part else { return nil }
            text += literal
        }
        return text
    }

    /// The expression when the string is that and nothing else, so that the value's JSON type is kept.
    package var wholeExpression: Expression? {
        if parts.count == 1, case .expression(let expression) = parts[0] { expression } else { nil }
    }

    /// True if one of its expressions reads a local file that it names itself.
    package var namesFile: Bool {
        parts.contains { if case .expression(let expression) = $0 { expression.namesFile } else { false } }
    }

    /// True if a value of it needs files, the time or chance besides what it reads.
    var asksOutside: Bool {
        parts.contains { if case .expression(let expression) = $0 { expression.asksOutside } else { false } }
    }

    /// A string without expressions, whatever it holds.
    public init(constant: String) {
        text = constant
        parts = constant.isEmpty ? [] : [.literal(constant)]
        origin = TextOrigin(content: SourceRange(start: 0, end: constant.utf8.count))
    }

    init(text: String, parts: [Part], origin: TextOrigin) {
        self.text = text
        self.parts = parts
        self.origin = origin
    }

    /// Reads a string; the first mistake in it is thrown, with the others.
    package static func parse(_ text: String, in origin: TextOrigin) throws(ExpressionError) -> Template {
        var reader = TemplateReader(text, origin)
        return try reader.template()
    }

    /// Reads a string whose characters stand in the file as they are.
    package static func parse(_ text: String, in source: SourceRange) throws(ExpressionError) -> Template {
        try parse(text, in: TextOrigin(content: source))
    }

    /// The part before the first expression whose references are not known, and those; nil for them when all are known.
    package func leading(while isKnown: ([Reference]) -> Bool) -> (template: Template, unknown: [Reference]?) {
        for (place, part) in parts.enumerated() {
            guard case .expression(let expression) = part, !isKnown(expression.references) else { continue }
            let leading = Template(text: text, parts: Array(parts[..<place]), origin: origin)
            return (leading, expression.references)
        }
        return (self, nil)
    }

    /// The value: of any JSON type when the string is only one expression, otherwise text.
    public func evaluate(in scope: Scope) throws(EvaluationFailure) -> JSON {
        if let wholeExpression { return try wholeExpression.evaluate(in: scope) }
        return .string(try evaluateText(in: scope))
    }

    /// The value as text: strings as they are, numbers with their digits, `true` and `false`; null, an array or an
    /// object is a failure that names the expression.
    public func evaluateText(in scope: Scope) throws(EvaluationFailure) -> String {
        var text = ""
        for part in parts {
            switch part {
            case .literal(let literal): text += literal
            case .expression(let expression):
                text += try expression.evaluateText(in: scope)
                guard text.utf8.count > ExpressionBounds.mostBytes else { continue }
                throw .wrong(
                    message: "this text has more than \(SizeText.exact(Int64(ExpressionBounds.mostBytes)))",
                    hint: "a file is sent as it is, of any size, with \"file\"", range: expression.place)
            }
        }
        return text
    }
}
