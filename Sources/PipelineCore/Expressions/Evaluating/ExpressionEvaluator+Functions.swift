import JSONPath

extension ExpressionEvaluator {
    func call(
        _ function: ExpressionFunction, _ arguments: [ExpressionNode], at range: SourceRange
    ) throws(EvaluationFailure) -> JSON {
        let call = FunctionCall(evaluator: self, function: function, nodes: arguments)
        switch call.function {
        case .len: return .number(JSONNumber(try call.length()))
        case .lower: return .string(try call.text(0).lowercased())
        case .upper: return .string(try call.text(0).uppercased())
        case .trim: return .string(Self.trimmed(try call.text(0)))
        case .replace: return .string(try call.replaced(at: range))
        case .split: return try call.split(at: range)
        case .join: return .string(try call.joined(at: range))
        case .contains: return .bool(try call.contains())
        case .startsWith: return .bool(Array(try call.text(0).utf8).starts(with: Array(try call.text(1).utf8)))
        case .endsWith: return .bool(try call.text(0).utf8.reversed().starts(with: try call.text(1).utf8.reversed()))
        case .urlencode: return .string(PercentEncoding.segment(try call.textOrNumber(0)))
        case .base64: return .string(Base64Bytes.encode(Array(try call.text(0).utf8)))
        case .hex:
            return .string(String(decoding: try call.text(0).utf8.flatMap { Hex.digits(of: $0) }, as: UTF8.self))
        case .sha256: return .string(SHA256Text.hex(of: try call.text(0)))
        case .json: return .string(try call.value(0).text)
        case .parse: return try call.parsed()
        case .flatten: return try call.flattened()
        case .slug: return .string(try call.slug())
        case .number: return try call.number()
        case .string: return .string(try call.anyText())
        case .basename: return .string(PathText.basename(try call.text(0)))
        case .dirname: return .string(PathText.dirname(try call.text(0)))
        case .stem: return .string(PathText.stem(try call.text(0)))
        case .extension: return .string(PathText.fileExtension(try call.text(0)))
        case .size: return try fact(.size(try call.path()))
        case .digest:
            return try call.digest(from: 1) { algorithm throws(EvaluationFailure) in
                try fact(.digest(try call.path(), algorithm)).string ?? ""
            }
        case .partDigest:
            return try call.digest(from: 0) { algorithm throws(EvaluationFailure) in
                guard let digest = scope.partDigest else {
                    throw wrong("\"part.digest\" is only known in the request for a part of an upload", at: range)
                }
                do throws(StepFailure) {
                    return try digest(algorithm)
                } catch {
                    throw wrong(error.title, hint: error.hint, at: range)
                }
            }
        case .text: return try fact(.text(try call.path()))
        case .fileBase64: return try fact(.base64(try call.path()))
        case .jsonLines: return try fact(.jsonLines(try call.path()))
        case .now: return try fact(.now(place: place(range)))
        case .uuid: return try fact(.uuid(place: place(range)))
        }
    }

    private func fact(_ fact: Fact) throws(EvaluationFailure) -> JSON {
        guard let value = scope.facts[fact] else { throw .missing(fact) }
        return fact.path == nil ? value : FileFact(value).value
    }

    /// Returns where the call stands in its file, which a job keeps as it was: the same over restarts, another for each
    /// call.
    private func place(_ range: SourceRange) -> String { String(expression.origin.source(of: range.start)) }

    private static func trimmed(_ text: String) -> String {
        let isSpace: (Unicode.Scalar) -> Bool = { $0.properties.isWhitespace }
        let scalars = text.unicodeScalars.drop(while: isSpace)
        guard let last = scalars.lastIndex(where: { !isSpace($0) }) else { return "" }
        return String(scalars[...last])
    }
}
