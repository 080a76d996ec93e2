import JSONPath

extension ExpressionEvaluator {
    func call(
        _ function: ExpressionFunction, _ arguments: [ExpressionNode], at range: SourceRange
    ) throws(EvaluationFailure) -> JSON {
        let call = FunctionCall(evaluator: self, function: function, nodes: arguments)
        switch function {
        case .len: return .number(JSONNumber(try call.length()))
        case .lower: return .string(try call.text(0).lowercased())
        case .upper: return .string(try call.text(0).uppercased())
        case .trim: return .string(Self.trimmed(try call.text(0)))
        case .replace: return .string(try call.replaced())
        case .split: return try call.split()
        case .join: return .string(try call.joined())
        case .contains: return .bool(try call.contains())
        case .startsWith: return .bool(Array(try call.text(0).utf8).starts(with: Array(try call.text(1).utf8)))
        case .endsWith: return .bool(try call.text(0).utf8.reversed().starts(with: try call.text(1).utf8.reversed()))
        case .urlencode: return .string(PercentEncoding.encode(try call.textOrNumber(0)))
        case .base64: return .string(String(decoding: Base64Text.encode(Array(try call.text(0).utf8)), as: UTF8.self))
        case .hex: return .string(String(decoding: try call.text(0).utf8.flatMap { PercentEncoding.hex($0) }, as: UTF8.self))
        case .sha256: return .string(SHA256Text.hex(of: try call.text(0)))
        case .json: return .string(try call.value(0).text)
        case .parse: return try call.parsed()
        case .number: return try call.number()
        case .string: return .string(try call.anyText())
        case .basename: return .string(PathText.basename(try call.text(0)))
        case .dirname: return .string(PathText.dirname(try call.text(0)))
        case .stem: return .string(PathText.stem(try call.text(0)))
        case .extension: return .string(PathText.fileExtension(try call.text(0)))
        case .size: return try fact(.size(try call.path()))
        case .digest: return try fact(.digest(try call.path()))
        case .text: return try fact(.text(try call.path()))
        case .jsonLines: return try fact(.jsonLines(try call.path()))
        case .now: return try fact(.now(place: place(range)))
        case .uuid: return try fact(.uuid(place: place(range)))
        }
    }

    private func fact(_ fact: Fact) throws(EvaluationFailure) -> JSON {
        guard let value = scope.facts[fact] else { throw .missing(fact) }
        return value
    }

    /// Where the call stands in its file, which a job keeps as it was: the same over restarts, another for each call.
    private func place(_ range: SourceRange) -> String { String(expression.origin.source(of: range.start)) }

    private static func trimmed(_ text: String) -> String {
        let isSpace: (Unicode.Scalar) -> Bool = { $0.properties.isWhitespace }
        let scalars = text.unicodeScalars.drop(while: isSpace)
        guard let last = scalars.lastIndex(where: { !isSpace($0) }) else { return "" }
        return String(scalars[...last])
    }
}

/// The arguments of one call, each taken as the kind that the function needs.
struct FunctionCall {
    let evaluator: ExpressionEvaluator
    let function: ExpressionFunction
    let nodes: [ExpressionNode]

    func value(_ index: Int) throws(EvaluationFailure) -> JSON { try evaluator.value(of: nodes[index]) }

    func text(_ index: Int) throws(EvaluationFailure) -> String {
        let value = try value(index)
        guard case .string(let text) = value else { throw mismatch(index, value, needed: "a text", fallback: "''") }
        return text
    }

    func textOrNumber(_ index: Int) throws(EvaluationFailure) -> String {
        let value = try value(index)
        if case .number(let number) = value { return number.literal }
        guard case .string(let text) = value else {
            throw mismatch(index, value, needed: "a text or a number", fallback: "''")
        }
        return text
    }

    func path() throws(EvaluationFailure) -> String {
        let text = try self.text(0)
        guard !text.isEmpty, !text.utf8.contains(0) else {
            throw failure("\(shown(0)) is no path: it is empty or holds a NUL", 0)
        }
        return evaluator.scope.absolute(text)
    }

    func mismatch(
        _ index: Int, _ value: JSON, needed: String, fallback: String? = nil, hint: String? = nil
    ) -> EvaluationFailure {
        let convert = value.isNull || needed != "a text" ? nil : "string(\(shown(index))) makes it a text"
        return evaluator.mismatch(
            nodes[index], value, needed: "\(needed) for \(function.rawValue)(…)", fallback: fallback, hint: hint ?? convert)
    }

    func failure(_ message: String, hint: String? = nil, _ index: Int) -> EvaluationFailure {
        evaluator.wrong(message, hint: hint, at: nodes[index].range)
    }

    func shown(_ index: Int) -> String { evaluator.expression.text(of: nodes[index].range) }
}

extension FunctionCall {
    /// Of a text the number of Unicode scalars, as RFC 9535 section 2.4.4 counts.
    func length() throws(EvaluationFailure) -> Int {
        switch try value(0) {
        case .string(let text): return text.unicodeScalars.count
        case .array(let elements): return elements.count
        case .object(let members): return members.count
        case let other: throw mismatch(0, other, needed: "a text, an array or an object", fallback: "''")
        }
    }

    func replaced() throws(EvaluationFailure) -> String {
        let (text, old, new) = (try self.text(0), try self.text(1), try self.text(2))
        guard !old.isEmpty else { throw failure("\(shown(1)) is empty: there is nothing to replace", 1) }
        return ByteSearch.split(text, by: old).joined(separator: new)
    }

    func split() throws(EvaluationFailure) -> JSON {
        let (text, separator) = (try self.text(0), try self.text(1))
        guard !separator.isEmpty else { throw failure("\(shown(1)) is empty: there is nothing to split at", 1) }
        return .array(ByteSearch.split(text, by: separator).map(JSON.string))
    }

    func joined() throws(EvaluationFailure) -> String {
        let value = try self.value(0)
        guard case .array(let elements) = value else { throw mismatch(0, value, needed: "an array") }
        let separator = try text(1)
        var texts: [String] = []
        for (index, element) in elements.enumerated() {
            guard let text = element.scalarText else {
                throw failure("element \(index) of \(shown(0)) is \(element.kindName), which cannot be joined", 0)
            }
            texts.append(text)
        }
        return texts.joined(separator: separator)
    }

    func contains() throws(EvaluationFailure) -> Bool {
        switch try value(0) {
        case .string(let text): return ByteSearch.contains(text, try self.text(1))
        case .array(let elements): return elements.contains(try value(1))
        case let other: throw mismatch(0, other, needed: "a text or an array", fallback: "''")
        }
    }

    func parsed() throws(EvaluationFailure) -> JSON {
        let text = try self.text(0)
        do throws(JSONSyntaxError) {
            return try JSON.parse(text)
        } catch {
            throw failure("\(shown(0)) is not JSON: at byte \(error.offset), \(error.message)", hint: error.hint, 0)
        }
    }

    func number() throws(EvaluationFailure) -> JSON {
        let value = try self.value(0)
        switch value {
        case .number: return value
        case .string(let text):
            if case .number(let number)? = try? JSON.parse(text) { return .number(number) }
            throw failure("\(shown(0)) is a text that is no number", 0)
        default: throw mismatch(0, value, needed: "a text or a number", fallback: "0")
        }
    }

    func anyText() throws(EvaluationFailure) -> String {
        let value = try self.value(0)
        if value.isNull { throw mismatch(0, value, needed: "a value", fallback: "''") }
        return value.scalarText ?? value.text
    }
}

extension JSON {
    /// The text that stands for a string, number or boolean inside other text; nil for null, arrays and objects.
    var scalarText: String? {
        switch self {
        case .string(let text): text
        case .number(let number): number.literal
        case .bool(let flag): flag ? "true" : "false"
        case .null, .array, .object: nil
        }
    }
}
