import JSONPath

/// Paths: a root, the names that must be written out after it, and members.
extension ExpressionParser {
    static let roots = [
        "inputs", "env", "secrets", "stages", "self", "item", "index", "job", "response", "part", "ids",
    ]
    static let fields = [
        "job": ["id", "key", "item", "started"], "response": ["status", "headers", "body"],
        "part": ["number", "offset", "size", "digest"],
    ]

    mutating func path(_ name: String, at start: SourceRange) throws(ExpressionError) -> ExpressionNode {
        let root: ExpressionNode.PathRoot
        switch name {
        case "inputs": root = .input(try written(after: name, at: start, example: "inputs.NAME"))
        case "env": root = .environment(try written(after: name, at: start, example: "env.NAME"))
        case "secrets": root = .secret(try written(after: name, at: start, example: "secrets.NAME"))
        case "job": root = .job(try field(of: name, at: start))
        case "response": root = .response(try field(of: name, at: start))
        case "part":
            let field = try field(of: name, at: start)
            guard field == "digest" else {
                root = .part(field)
                break
            }
            guard current.kind == .openParenthesis else {
                throw error(
                    "\"part.digest\" is a function", hint: "write part.digest('sha256', 'hex')", at: range(from: start))
            }
            return try call(.partDigest, at: start)
        case "item": root = .item
        case "index": root = .index
        case "ids": root = .ids
        case "stages":
            let id = try written(after: name, at: start, example: "stages.ID.CAPTURE")
            return try captures(.stage(id), text: "stages.\(id)", at: start)
        case "self": return try captures(.own, text: "self", at: start)
        default: throw unknownRoot(name, at: start)
        }
        return ExpressionNode(range: range(from: start), kind: .path(root, []))
    }

    /// Members after a value, as far as there are any.
    mutating func accessors() throws(ExpressionError) -> [ExpressionNode.Accessor] {
        var accessors: [ExpressionNode.Accessor] = []
        while let accessor = try accessor() { accessors.append(accessor) }
        return accessors
    }

    private mutating func accessor() throws(ExpressionError) -> ExpressionNode.Accessor? {
        let start = current.range
        switch current.kind {
        case .dot:
            let (name, range) = try lexer.memberName(after: start)
            try advance()
            return ExpressionNode.Accessor(range: SourceRange(start: start.start, end: range.end), kind: .member(name))
        case .openBracket:
            try advance()
            let inner = try conditional()
            let range = SourceRange(start: start.start, end: current.range.end)
            try expect(.closeBracket, "]", closing: start)
            if case .literal(.string(let name)) = inner.kind {
                return ExpressionNode.Accessor(range: range, kind: .member(name))
            }
            return ExpressionNode.Accessor(range: range, kind: .computed(inner))
        default: return nil
        }
    }

    private func range(from start: SourceRange) -> SourceRange {
        SourceRange(start: start.start, end: max(start.end, consumedEnd))
    }

    /// The place where the token before the current one ends.
    private var consumedEnd: Int {
        var end = current.range.start
        while end > 0, [0x20, 0x09, 0x0A, 0x0D].contains(lexer.bytes[end - 1]) { end -= 1 }
        return end
    }

    /// A name that must stand in the text, as the planner checks it before anything runs.
    private mutating func written(
        after root: String, at range: SourceRange, example: String
    ) throws(ExpressionError) -> String {
        guard let accessor = try accessor() else {
            throw error("\"\(root)\" needs a name after it", hint: "write \(example)", at: range)
        }
        guard let name = accessor.name else {
            throw error(
                "the name after \"\(root)\" cannot be computed",
                hint: "it is checked before anything is sent: write \(example)",
                at: accessor.range)
        }
        return name
    }

    private mutating func field(of root: String, at range: SourceRange) throws(ExpressionError) -> String {
        let known = Self.fields[root] ?? []
        let list = known.map { "\(root).\($0)" }.joined(separator: ", ")
        guard let accessor = try accessor(), let name = accessor.name else {
            throw error("\"\(root)\" needs a name after it", hint: "there are \(list)", at: range)
        }
        guard known.contains(name) else {
            let meant =
                Suggestion.nearest(to: name, among: known).map { "did you mean \"\(root).\($0)\"? There" } ?? "there"
            throw error("there is no \"\(root).\(name)\"", hint: "\(meant) are \(list)", at: accessor.range)
        }
        return name
    }

    private mutating func captures(
        _ root: ExpressionNode.PathRoot, text: String, at range: SourceRange
    ) throws(ExpressionError) -> ExpressionNode {
        guard let first = try accessor() else {
            throw error(
                "\"\(text)\" needs the name of a capture after it", hint: "write \(text).CAPTURE",
                at: self.range(from: range))
        }
        let whole = self.range(from: range)
        switch (root, first.name) {
        case (.own, "key"): return ExpressionNode(range: whole, kind: .path(.ownKey, []))
        case (.own, "callbackURL"): return ExpressionNode(range: whole, kind: .path(.callbackURL, []))
        default: return ExpressionNode(range: whole, kind: .path(root, [first]))
        }
    }

    private func unknownRoot(_ name: String, at range: SourceRange) -> ExpressionError {
        if let function = ExpressionFunction(rawValue: name) {
            return error("\"\(name)\" is a function", hint: "write \(function.signature)", at: range)
        }
        let words = ["null", "true", "false"]
        let habits = [
            "input": "inputs", "environment": "env", "secret": "secrets", "stage": "stages", "steps": "stages",
            "jobs": "job", "this": "self", "i": "index", "body": "response.body",
            "headers": "response.headers", "undefined": "null", "nil": "null", "None": "null", "True": "true",
            "False": "false",
        ]
        let states = "\"response.status\" is the number of HTTP, \"response.body.status\" a member of the answer"
        let meant = habits[name] ?? Suggestion.nearest(to: name, among: Self.roots + words)
        let hint =
            name == "status"
            ? states
            : meant.map { "did you mean \"\($0)\"?" } ?? "texts stand in quotes, '\(name)'; names start with one of "
                + Self.roots.joined(separator: ", ") + "; a capture is stages.ID.NAME"
        return error("\"\(name)\" is no known name", hint: hint, at: range)
    }
}
