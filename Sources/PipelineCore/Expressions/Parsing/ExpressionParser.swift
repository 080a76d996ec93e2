import JSONPath

/// Reads an expression by recursive descent and precedence climbing; ranges are offsets in the expression's text.
///
/// It stops at the first mistake: what follows a mistake in so short a text is seldom worth a second message.
struct ExpressionParser {
    /// The deepest nesting of parentheses, brackets, calls, `!` and `? :`, so that no text can exhaust the stack.
    static let deepestNesting = 128

    var lexer: ExpressionLexer
    var current: ExpressionToken
    private var depth = 0

    init(_ text: String) throws(ExpressionError) {
        lexer = ExpressionLexer(text)
        current = try lexer.next()
    }

    /// The whole text as one expression.
    mutating func expression() throws(ExpressionError) -> ExpressionNode {
        if current.kind == .end {
            throw error("there is no expression here", hint: "write a value such as inputs.NAME", at: current.range)
        }
        let node = try conditional()
        guard current.kind == .end else { throw leftOver() }
        return node
    }

    mutating func advance() throws(ExpressionError) { current = try lexer.next() }

    func error(_ message: String, hint: String? = nil, at range: SourceRange) -> ExpressionError {
        ExpressionError(message, hint: hint, range: range)
    }

    /// The token as a message shows it.
    func shown(_ token: ExpressionToken) -> String {
        if token.kind == .end { return "the end" }
        let text = String(decoding: lexer.bytes[token.range.start..<token.range.end], as: UTF8.self)
        return "\"\(text)\""
    }

    mutating func expect(_ kind: ExpressionToken.Kind, _ sign: String, closing opener: SourceRange)
        throws(ExpressionError)
    {
        guard current.kind == kind else {
            let name = String(decoding: lexer.bytes[opener.start..<opener.end], as: UTF8.self)
            throw error(
                "\"\(sign)\" must follow here, to close \"\(name)\", and not \(shown(current))",
                hint: "write \(name)…\(sign)", at: current.range)
        }
        try advance()
    }

    private func leftOver() -> ExpressionError {
        let hint: String? =
            switch current.kind {
            case .name(let name) where ["and", "or", "not", "is", "in"].contains(name):
                "operators are written && || ! == and the function contains(…)"
            case .colon: "a \":\" belongs after a \"?\": condition ? value : value"
            case .closeParenthesis, .closeBracket: "it closes nothing"
            case .closeBrace: "\"${{\" and \"}}\" stand around the whole expression"
            default: "an operator such as + or == stands between two values"
            }
        return error("\(shown(current)) is not expected here", hint: hint, at: current.range)
    }
}

extension ExpressionParser {
    /// `condition ? value : value`, the loosest; its third part may be another one.
    mutating func conditional() throws(ExpressionError) -> ExpressionNode {
        depth += 1
        defer { depth -= 1 }
        guard depth <= Self.deepestNesting else {
            throw error(
                "this is nested too deeply", hint: "at most \(Self.deepestNesting) levels are read", at: current.range)
        }
        let condition = try binary(minimum: 0)
        guard current.kind == .question else { return condition }
        let question = current.range
        try advance()
        let first = try conditional()
        guard current.kind == .colon else {
            throw error(
                "\":\" must follow here, and not \(shown(current))",
                hint: "a condition has two values: condition ? value : value",
                at: current.kind == .end ? question : current.range)
        }
        try advance()
        let second = try conditional()
        return ExpressionNode(
            range: SourceRange(start: condition.range.start, end: second.range.end),
            kind: .conditional(condition, first, second))
    }

    private mutating func binary(minimum: Int) throws(ExpressionError) -> ExpressionNode {
        var left = try unary()
        while case .operation(let operation) = current.kind, operation.precedence >= minimum {
            let links = try links(at: operation.precedence)
            let end = links.last?.operand.range.end ?? left.range.end
            left = ExpressionNode(range: SourceRange(start: left.range.start, end: end), kind: .chain(left, links))
        }
        return left
    }

    private mutating func links(at precedence: Int) throws(ExpressionError) -> [ExpressionNode.Link] {
        var links: [ExpressionNode.Link] = []
        while case .operation(let operation) = current.kind, operation.precedence == precedence {
            let range = current.range
            if precedence == ExpressionOperator.comparison, !links.isEmpty {
                throw error(
                    "comparisons cannot be chained",
                    hint: "join them with &&, as in a < b && b < c, or use parentheses",
                    at: range)
            }
            try advance()
            let operand = try binary(minimum: precedence + 1)
            links.append(ExpressionNode.Link(operation: operation, operatorRange: range, operand: operand))
        }
        return links
    }

    private mutating func unary() throws(ExpressionError) -> ExpressionNode {
        let start = current.range.start
        let isNot = current.kind == .not
        guard isNot || current.kind == .operation(.subtract) else { return try postfix() }
        depth += 1
        defer { depth -= 1 }
        guard depth <= Self.deepestNesting else {
            throw error(
                "this is nested too deeply", hint: "at most \(Self.deepestNesting) levels are read", at: current.range)
        }
        try advance()
        let operand = try unary()
        let range = SourceRange(start: start, end: operand.range.end)
        if !isNot, case .literal(.number(let number)) = operand.kind, !number.literal.hasPrefix("-") {
            return ExpressionNode(range: range, kind: .literal(.number(JSONNumber(literal: "-" + number.literal))))
        }
        return ExpressionNode(range: range, kind: isNot ? .not(operand) : .negative(operand))
    }

    private mutating func postfix() throws(ExpressionError) -> ExpressionNode {
        let node = try primary()
        let members = try accessors()
        guard let last = members.last else { return node }
        let range = SourceRange(start: node.range.start, end: last.range.end)
        if case .path(let root, let inner) = node.kind {
            return ExpressionNode(range: range, kind: .path(root, inner + members))
        }
        return ExpressionNode(range: range, kind: .access(node, members))
    }

    private mutating func primary() throws(ExpressionError) -> ExpressionNode {
        let token = current
        switch token.kind {
        case .text(let text):
            try advance()
            return ExpressionNode(range: token.range, kind: .literal(.string(text)))
        case .number(let number):
            try advance()
            return ExpressionNode(range: token.range, kind: .literal(.number(number)))
        case .name(let name):
            try advance()
            return try named(name, at: token.range)
        case .openParenthesis:
            try advance()
            let inner = try conditional()
            let end = current.range.end
            try expect(.closeParenthesis, ")", closing: token.range)
            return ExpressionNode(range: SourceRange(start: token.range.start, end: end), kind: inner.kind)
        case .openBracket: return try array(opener: token.range)
        case .openBrace: return try object(opener: token.range)
        default:
            throw error(
                "a value must stand here, and not \(shown(token))",
                hint: "values look like inputs.NAME, 'text', 5 or [1, 2]", at: token.range)
        }
    }

    private mutating func named(_ name: String, at range: SourceRange) throws(ExpressionError) -> ExpressionNode {
        switch name {
        case "null": return ExpressionNode(range: range, kind: .literal(.null))
        case "true", "false": return ExpressionNode(range: range, kind: .literal(.bool(name == "true")))
        default: break
        }
        if current.kind == .openParenthesis { return try call(name, at: range) }
        return try path(name, at: range)
    }
}

extension ExpressionParser {
    private mutating func call(_ name: String, at range: SourceRange) throws(ExpressionError) -> ExpressionNode {
        guard let function = ExpressionFunction(rawValue: name) else { throw unknownFunction(name, at: range) }
        return try call(function, at: range)
    }

    /// The arguments of a call, from its parenthesis on.
    mutating func call(_ function: ExpressionFunction, at range: SourceRange) throws(ExpressionError) -> ExpressionNode
    {
        let opener = SourceRange(start: range.start, end: current.range.end)
        try advance()
        let (arguments, end) = try elements(until: .closeParenthesis, ")", opener: opener)
        let whole = SourceRange(start: range.start, end: end)
        guard (function.requiredCount...function.parameters.count).contains(arguments.count) else {
            throw wrongArity(function, arguments.count, at: whole)
        }
        for (index, argument) in arguments.enumerated() {
            guard case .literal(.string(let word)) = argument.kind, let known = function.words(ofArgument: index),
                !known.contains(word)
            else { continue }
            throw error(
                "there is no \(function.parameters[index]) \"\(word)\"",
                hint: Suggestion.hint(for: word, among: known) ?? "one of \(known.joined(separator: ", "))",
                at: argument.range)
        }
        return ExpressionNode(range: whole, kind: .call(function, arguments))
    }

    /// Values with commas between them, and where the sign that ends them stands.
    private mutating func elements(
        until kind: ExpressionToken.Kind, _ sign: String, opener: SourceRange
    ) throws(ExpressionError) -> (nodes: [ExpressionNode], end: Int) {
        var nodes: [ExpressionNode] = []
        while current.kind != kind {
            nodes.append(try conditional())
            guard try comma(before: kind, sign) else { break }
        }
        let end = current.range.end
        try expect(kind, sign, closing: opener)
        return (nodes, end)
    }

    /// Passes over a comma, after which another value must stand; false when there is none.
    private mutating func comma(before kind: ExpressionToken.Kind, _ sign: String) throws(ExpressionError) -> Bool {
        guard current.kind == .comma else { return false }
        try advance()
        guard current.kind == kind else { return true }
        throw error(
            "a value must follow the \",\", and not \"\(sign)\"", hint: "take the \",\" out", at: current.range)
    }

    private mutating func array(opener: SourceRange) throws(ExpressionError) -> ExpressionNode {
        try advance()
        let (nodes, end) = try elements(until: .closeBracket, "]", opener: opener)
        return ExpressionNode(range: SourceRange(start: opener.start, end: end), kind: .array(nodes))
    }

    private mutating func object(opener: SourceRange) throws(ExpressionError) -> ExpressionNode {
        try advance()
        var members: [ExpressionNode.Member] = []
        // By bytes: JSON tells names apart that Swift takes for equal (RFC 8259, section 8.3).
        var names: Set<[UInt8]> = []
        while current.kind != .closeBrace {
            let place = current
            let name = try memberName()
            guard names.insert(Array(name.utf8)).inserted else {
                throw error("the member \"\(name)\" is given twice", hint: "keep one of them", at: place.range)
            }
            members.append(ExpressionNode.Member(name: name, value: try conditional()))
            guard try comma(before: .closeBrace, "}") else { break }
        }
        let end = current.range.end
        try expect(.closeBrace, "}", closing: opener)
        return ExpressionNode(range: SourceRange(start: opener.start, end: end), kind: .object(members))
    }

    /// The name of a member and the colon after it.
    private mutating func memberName() throws(ExpressionError) -> String {
        guard case .text(let name) = current.kind else {
            var hint = "{ 'name': value }"
            if case .name(let bare) = current.kind { hint = "write '\(bare)': …" }
            throw error(
                "the name of a member must stand here in quotes, and not \(shown(current))", hint: hint,
                at: current.range)
        }
        try advance()
        guard current.kind == .colon else {
            throw error(
                "\":\" must follow the name of a member, and not \(shown(current))", hint: "{ 'name': value }",
                at: current.range)
        }
        try advance()
        return name
    }

    private func unknownFunction(_ name: String, at range: SourceRange) -> ExpressionError {
        let names = ExpressionFunction.listed.map(\.rawValue)
        let other = ExpressionFunction.otherNames[name]?.rawValue
        let hint = other.map { "did you mean \"\($0)\"?" } ?? Suggestion.hint(for: name, among: names)
        return error(
            "there is no function \"\(name)\"", hint: hint ?? "the functions are \(names.joined(separator: ", "))",
            at: range)
    }

    private func wrongArity(_ function: ExpressionFunction, _ count: Int, at range: SourceRange) -> ExpressionError {
        let (least, most) = (function.requiredCount, function.parameters.count)
        let wanted =
            least < most
            ? "\(least) to \(most) arguments"
            : most == 0 ? "no arguments" : most == 1 ? "one argument" : "\(most) arguments"
        return error(
            "\(function.rawValue) takes \(wanted), and here are \(count)", hint: "write \(function.signature)",
            at: range)
    }
}
