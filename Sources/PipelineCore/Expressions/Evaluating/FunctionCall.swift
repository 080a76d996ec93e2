import JSONPath

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
        return try evaluator.scope.filePath(text)
    }

    func mismatch(
        _ index: Int, _ value: JSON, needed: String, fallback: String? = nil
    ) -> EvaluationFailure {
        let convert = value.isNull || needed != "a text" ? nil : "string(\(shown(index))) makes it a text"
        return evaluator.mismatch(
            nodes[index], value, needed: "\(needed) for \(function.rawValue)(…)", fallback: fallback, hint: convert)
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

    func replaced(at range: SourceRange) throws(EvaluationFailure) -> String {
        let (text, old, new) = (try self.text(0), try self.text(1), try self.text(2))
        guard !old.isEmpty else { throw failure("\(shown(1)) is empty: there is nothing to replace", 1) }
        let count = ByteSearch.count(of: old, in: text)
        let (growth, overflow) = count.multipliedReportingOverflow(by: new.utf8.count - old.utf8.count)
        try evaluator.checkSize(overflow ? nil : text.utf8.count + growth, at: range)
        return ByteSearch.replacing(old, in: text, with: new)
    }

    func split(at range: SourceRange) throws(EvaluationFailure) -> JSON {
        let (text, separator) = (try self.text(0), try self.text(1))
        guard !separator.isEmpty else { throw failure("\(shown(1)) is empty: there is nothing to split at", 1) }
        try evaluator.checkCount(ByteSearch.count(of: separator, in: text) + 1, at: range)
        return .array(ByteSearch.split(text, by: separator).map(JSON.string))
    }

    func joined(at range: SourceRange) throws(EvaluationFailure) -> String {
        let value = try self.value(0)
        guard case .array(let elements) = value else { throw mismatch(0, value, needed: "an array") }
        let separator = try text(1)
        var texts: [String] = []
        var size = 0
        for (index, element) in elements.enumerated() {
            guard let text = element.scalarText else {
                throw failure("element \(index) of \(shown(0)) is \(element.kindName), which cannot be joined", 0)
            }
            texts.append(text)
            size += text.utf8.count + separator.utf8.count
            try evaluator.checkSize(size - separator.utf8.count, at: range)
        }
        return texts.joined(separator: separator)
    }

    /// The elements of an array, those of arrays in it in their places, without nulls.
    func flattened() throws(EvaluationFailure) -> JSON {
        let value = try self.value(0)
        guard case .array(let elements) = value else { throw mismatch(0, value, needed: "an array", fallback: "[]") }
        return .array(elements.flatMap { $0.array ?? [$0] }.filter { !$0.isNull })
    }

    /// Small letters, digits and single hyphens between them, as names at strict services are: at most 40, of which the
    /// last eight are of a digest where something was cut.
    func slug() throws(EvaluationFailure) -> String {
        let words = try textOrNumber(0).lowercased().utf8.split { byte in
            !(UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) && !(48...57).contains(byte)
        }
        guard !words.isEmpty else { throw failure("\(shown(0)) has no letter or digit that a slug could keep", 0) }
        let whole = words.map { String(decoding: Array($0), as: UTF8.self) }.joined(separator: "-")
        guard whole.utf8.count > 40 else { return whole }
        let head = String(decoding: whole.utf8.prefix(31), as: UTF8.self)
        return (head.utf8.last == UInt8(ascii: "-") ? head : head + "-")
            + SHA256Text.hex(of: try textOrNumber(0)).prefix(8)
    }

    /// A digest whose algorithm and encoding are the arguments from an index on.
    func digest(
        from index: Int, hex: (DigestAlgorithm) throws(EvaluationFailure) -> String
    ) throws(EvaluationFailure) -> JSON {
        let algorithm = try word(index).flatMap { DigestAlgorithm(rawValue: $0) } ?? .sha256
        let encoding = try word(index + 1).flatMap { DigestEncoding(rawValue: $0) } ?? .hex
        let digits = try hex(algorithm)
        guard encoding == .base64 else { return .string(digits) }
        return .string(Base64Bytes.encode(Hex.bytes(digits.utf8) ?? []))
    }

    /// An argument that is one of a few words; nil when it is not given.
    private func word(_ index: Int) throws(EvaluationFailure) -> String? {
        guard index < nodes.count else { return nil }
        let text = try self.text(index)
        guard let known = function.words(ofArgument: index), !known.contains(text) else { return text }
        throw failure(
            "there is no \(function.parameters[index]) \"\(text)\"",
            hint: Suggestion.hint(for: text, among: known) ?? "one of \(known.joined(separator: ", "))", index)
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
