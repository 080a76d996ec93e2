public import JSONPath

/// A parsed expression: what stands between `${{` and `}}`, or bare in fields such as `when`.
///
/// Operators from the tightest: `.name [index]`, `! -`, `* /`, `+ -`, `??`, `== != < <= > >=` (which do not chain),
/// `&&`, `||`, `? :`. Conditions must be booleans; nothing is converted silently. After a dot, a `-` directly between
/// two characters of a name belongs to the name (`stages.my-stage.url`), so a subtraction is written with spaces.
public struct Expression: Sendable {
    /// The text, without the `${{ }}` around it.
    public let text: String
    /// Everything that it reads, in the order of the text; a value read twice stands here twice.
    package let references: [Reference]
    /// True if it asks for members of a response's body, which only JSON has.
    package let readsMembersOfBody: Bool
    /// True if it reads a local file that it names itself, such as `text('prompt.md')`.
    package let namesFile: Bool

    /// What its value is made of, see ``ExpressionNode/ingredients(isChanged:)``.
    private let ingredients: [Reference.Root]

    let root: ExpressionNode
    let origin: TextOrigin

    /// Reads an expression.
    ///
    /// - Parameter origin: where the text stands in its file; errors, references and the places of `now()` and
    ///   `uuid()` are given in the file's offsets.
    package static func parse(_ text: String, in origin: TextOrigin) throws(ExpressionError) -> Expression {
        do throws(ExpressionError) {
            var parser = try ExpressionParser(text)
            let root = try parser.expression()
            return Expression(text: text, root: root, origin: origin)
        } catch {
            throw ExpressionError(error.message, hint: error.hint, range: origin.source(of: error.range))
        }
    }

    /// Reads an expression whose characters stand in the file as they are.
    package static func parse(_ text: String, in source: SourceRange) throws(ExpressionError) -> Expression {
        try parse(text, in: TextOrigin(content: source))
    }

    /// Reads the text of a field that holds an expression, bare or with one `${{ }}` around the whole.
    package static func parseField(_ text: String, in origin: TextOrigin) throws(ExpressionError) -> Expression {
        let bytes = Array(text.utf8)
        let start = bytes.firstIndex { !TemplateReader.isSpace($0) } ?? 0
        let end = bytes.lastIndex { !TemplateReader.isSpace($0) }.map { $0 + 1 } ?? 0
        guard bytes[start...].starts(with: "${{".utf8) else { return try parseBare(text, in: origin) }
        let content = String(decoding: bytes[start..<end], as: UTF8.self)
        let template = try Template.parse(content, in: origin.advanced(by: start))
        guard let expression = template.wholeExpression else { throw partly(text, origin) }
        return expression
    }

    private static func parseBare(_ text: String, in origin: TextOrigin) throws(ExpressionError) -> Expression {
        do throws(ExpressionError) {
            return try parse(text, in: origin)
        } catch {
            throw TemplateReader.hasExpression(text) ? partly(text, origin) : error
        }
    }

    private static func partly(_ text: String, _ origin: TextOrigin) -> ExpressionError {
        ExpressionError(
            "this field is one expression, and only part of it stands in ${{ }}", hint: "write it bare, without ${{ }}",
            range: origin.source(of: SourceRange(start: 0, end: text.utf8.count)))
    }

    private init(text: String, root: ExpressionNode, origin: TextOrigin) {
        self.text = text
        self.root = root
        self.origin = origin
        var collector = ReferenceCollector(origin: origin)
        collector.visit(whole: root)
        references = collector.references
        readsMembersOfBody = collector.readsMembersOfBody
        namesFile = collector.namesFile
        ingredients = root.ingredients()
    }

    /// The value for these values of names; the same scope always gives the same.
    public func evaluate(in scope: Scope) throws(EvaluationFailure) -> JSON {
        let value = try ExpressionEvaluator(expression: self, scope: scope).value(of: root)
        if !ingredients.isEmpty { scope.noteMade?(value, ingredients) }
        return value
    }

    /// The value of a condition, which must be a boolean.
    public func evaluateCondition(in scope: Scope) throws(EvaluationFailure) -> Bool {
        let evaluator = ExpressionEvaluator(expression: self, scope: scope)
        return try evaluator.condition(root)
    }

    /// The input that it is as a whole, `inputs.NAME`; nil for any other.
    var wholeInput: String? {
        if case .path(.input(let name), let accessors) = root.kind, accessors.isEmpty { name } else { nil }
    }

    /// True if its value needs a file, the time or chance: what the caller obtains and journals.
    var asksOutside: Bool { root.asksOutside }

    /// The text of one part, for messages.
    func text(of range: SourceRange) -> String {
        let bytes = text.utf8.dropFirst(range.start).prefix(range.end - range.start)
        return bytes.count <= 60 ? String(bytes) ?? "" : String(decoding: bytes.prefix(57), as: UTF8.self) + "…"
    }
}

extension Expression: Equatable {
    /// Equal in text and place.
    public static func == (left: Expression, right: Expression) -> Bool {
        left.text == right.text && left.origin == right.origin
    }
}
