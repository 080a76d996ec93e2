package import JSONPath

/// Takes secrets out of everything that is shown or kept: events, logs, errors, traces.
///
/// It finds a secret plain; percent-encoded, in hex of either case, whichever characters were encoded, with `+` for a
/// space too; escaped in JSON; in base64, also URL-safe, also in the middle of a longer text such as the `user:secret`
/// of basic authentication; in hex; and in these one inside the other, to a depth of two. Each find becomes
/// `‹secret:NAME›`.
///
/// A secret of fewer than four bytes would be found in every other word: it is only taken out where it stands as a
/// whole token, plain, percent-encoded or as base64 of its own, and not inside of base64. An empty one is ignored.
package struct Redactor: Sendable {
    private var patterns: SecretPatterns
    private var secrets: [(name: String, value: String)]

    /// - Parameter secrets: names and values; of equal values the first name is shown.
    package init(_ secrets: some Sequence<(name: String, value: String)>) {
        self.secrets = Array(secrets)
        patterns = SecretPatterns(self.secrets)
    }

    package init(_ secrets: [String: String] = [:]) {
        self.init(secrets.sorted { $0.key < $1.key }.map { (name: $0.key, value: $0.value) })
    }

    /// Adds more values, such as secret captures.
    package mutating func add(_ more: [(name: String, value: String)]) {
        secrets += more
        patterns.add(more)
    }

    /// The text without the secrets; the same text when there are none in it.
    package func redact(_ text: String) -> String {
        guard !patterns.isEmpty, !text.isEmpty else { return text }
        let finds = RedactionSearch.finds(of: patterns, in: RedactionView(text))
        return finds.isEmpty ? text : replaced(finds, in: text)
    }

    /// The value without the secrets, in strings, names of members and numbers; a number that is one becomes a string.
    package func redact(_ value: JSON) -> JSON {
        guard !patterns.isEmpty else { return value }
        switch value {
        case .null, .bool: return value
        case .string(let text): return .string(redact(text))
        case .number(let number):
            let text = redact(number.literal)
            return text == number.literal ? value : .string(text)
        case .array(let elements): return .array(elements.map { redact($0) })
        case .object(let members): return .object(JSONObject(members.map { (redact($0.name), redact($0.value)) }))
        }
    }

    private func replaced(_ finds: [RedactionFind], in text: String) -> String {
        let bytes = Array(text.utf8)
        let marks = marks(in: bytes)
        let open = finds.filter { find in !marks.contains { $0.lowerBound <= find.start && find.end <= $0.upperBound } }
        var result: [UInt8] = []
        var position = 0
        for find in RedactionFind.merged(open) {
            result += bytes[position..<find.start]
            result += Self.mark(find.name)
            position = find.end
        }
        result += bytes[position...]
        return String(decoding: result, as: UTF8.self)
    }

    private static func mark(_ name: String) -> [UInt8] { Array("‹secret:\(name)›".utf8) }

    /// The places of marks that stand in the text already, as after an earlier redaction: a secret whose value is a word of
    /// a mark is not taken out of it. Only those of known names: what a service writes between the signs is no mark.
    private func marks(in bytes: [UInt8]) -> [Range<Int>] {
        guard let sign = "‹".utf8.first, bytes.contains(sign) else { return [] }
        return Set(secrets.map(\.name)).flatMap { name -> [Range<Int>] in
            let mark = Self.mark(name)
            return bytes.indices.compactMap { start in
                bytes[start] == sign && bytes[start...].starts(with: mark) ? start..<start + mark.count : nil
            }
        }
    }
}
