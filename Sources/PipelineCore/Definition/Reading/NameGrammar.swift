/// The grammar of a name in the document.
public enum NameGrammar: Sendable {
    /// A pipeline's name: `[a-z][a-z0-9-]*`.
    case pipeline
    /// A stage's id: `[a-z][a-zA-Z0-9_-]*`.
    case stage
    /// `--key` and `--batch`: `[a-zA-Z0-9._-]{1,200}`.
    case jobKey

    /// The grammar as a regular expression, for the schema.
    package var pattern: String {
        switch self {
        case .pipeline: "^[a-z][a-z0-9-]*$"
        case .stage: "^[a-z][a-zA-Z0-9_-]*$"
        case .jobKey: "^[a-zA-Z0-9._-]{1,200}$"
        }
    }

    /// The words by which a message calls such a name.
    var noun: String {
        switch self {
        case .pipeline: "a pipeline's name"
        case .stage: "a stage's id"
        case .jobKey: "a job's key"
        }
    }

    /// Advice on how to spell one.
    package var hint: String {
        switch self {
        case .pipeline: "a lower-case letter, then lower-case letters, digits and '-'"
        case .stage: "a lower-case letter, then letters, digits, '_' and '-'"
        case .jobKey: "1 to 200 letters, digits, '.', '_' and '-'"
        }
    }

    /// The hint where something else than a text stands.
    var textHint: String {
        let example =
            switch self {
            case .pipeline: "daily-report"
            case .stage: "fetch"
            case .jobKey: "order-7"
            }
        return "in quotes, for example \"\(example)\": \(hint)"
    }

    /// Returns how to mend a text that is not one.
    func hint(for text: String) -> String {
        if TemplateReader.hasExpression(text) { return "it is the same for every job: an expression cannot stand here" }
        let mended = mended(text)
        return accepts(mended) ? "\(hint), for example \"\(mended)\"" : hint
    }

    /// The text with what may not stand in it replaced by `-`.
    private func mended(_ text: String) -> String {
        let bytes = text.utf8.map { $0.isASCIIAlphanumeric || ($0 == 95 && self == .stage) ? $0 : 45 }
        let name = String(decoding: bytes, as: UTF8.self).split(separator: "-").joined(separator: "-")
        let isOneWord = self == .stage && !name.contains("-")
        return isOneWord ? name.prefix(1).lowercased() + name.dropFirst() : name.lowercased()
    }

    /// Returns whether the text has this grammar.
    package func accepts(_ text: String) -> Bool {
        let characters = Array(text.utf8)
        guard let first = characters.first else { return false }
        let isLower = { (byte: UInt8) in (97...122).contains(byte) }
        let isDigit = { (byte: UInt8) in (48...57).contains(byte) }
        let isUpper = { (byte: UInt8) in (65...90).contains(byte) }
        switch self {
        case .pipeline: return isLower(first) && characters.allSatisfy { isLower($0) || isDigit($0) || $0 == 45 }
        case .stage:
            return isLower(first)
                && characters.allSatisfy { isLower($0) || isUpper($0) || isDigit($0) || $0 == 45 || $0 == 95 }
        case .jobKey:
            return characters.count <= 200
                && characters.allSatisfy { isLower($0) || isUpper($0) || isDigit($0) || [45, 46, 95].contains($0) }
        }
    }
}
