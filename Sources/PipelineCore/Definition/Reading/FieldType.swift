public import JSONPath

/// The way in which a value of the document is read, and what the JSON Schema says of it.
public struct FieldType<Value: Sendable>: Sendable {
    private let makeSchema: @Sendable () -> JSON
    /// Reads the value; nil after having reported what is wrong.
    public let read: @Sendable (SourceLocation, DiagnosticCollector) -> Value?

    /// A type from its schema and how it is read.
    ///
    /// - Parameters:
    ///   - schema: made each time that it is asked for, so that reading a document never pays for it.
    ///   - read: reads the value; nil after having reported what is wrong.
    public init(
        schema: @autoclosure @escaping @Sendable () -> JSON,
        read: @escaping @Sendable (SourceLocation, DiagnosticCollector) -> Value?
    ) {
        makeSchema = schema
        self.read = read
    }

    /// The JSON Schema (2020-12) of the value.
    public var schema: JSON { makeSchema() }

    /// Returns the same reading with another result.
    public func map<Other: Sendable>(_ transform: @escaping @Sendable (Value) -> Other) -> FieldType<Other> {
        FieldType<Other>(schema: makeSchema()) { place, findings in read(place, findings).map(transform) }
    }

    /// Returns the same under a name of its own: the schema of the whole document gives it once, by that name.
    package func named(_ name: String) -> FieldType {
        FieldType(schema: makeSchema().titled(name), read: read)
    }
}

extension JSON {
    fileprivate func titled(_ title: String) -> JSON {
        guard case .object(var schema) = self else { return self }
        schema["title"] = .string(title)
        return .object(schema)
    }
}

extension FieldType where Value == SourceLocation {
    /// Any value, with its place.
    public static var any: FieldType { FieldType(schema: [:]) { place, _ in place } }

    /// A string, with its place.
    public static var text: FieldType {
        FieldType(schema: ["type": "string"]) { place, findings in
            FieldType<String>.string.read(place, findings) == nil ? nil : place
        }
    }
}

extension FieldType where Value == String {
    /// A string that is taken as it is.
    public static var string: FieldType { quoted(otherwise: "write a text in quotes") }

    /// - Parameter hint: what to write instead of a value that no quotes make a string of.
    private static func quoted(otherwise hint: @autoclosure @escaping @Sendable () -> String) -> FieldType {
        FieldType(schema: ["type": "string"]) { place, findings in
            if let text = place.text { return text }
            findings.report(
                place, "this must be a string, not \(place.node.json.kindName)", hint: place.quotesHint ?? hint())
            return nil
        }
    }

    /// A name of the given grammar.
    public static func name(_ grammar: NameGrammar) -> FieldType {
        FieldType(schema: ["type": "string", "pattern": .string(grammar.pattern)]) { place, findings in
            guard let text = quoted(otherwise: grammar.textHint).read(place, findings) else { return nil }
            if grammar.accepts(text) { return text }
            findings.report(
                place, text.isEmpty ? "\(grammar.noun) must not be empty" : "'\(text)' cannot be \(grammar.noun)",
                hint: grammar.hint(for: text))
            return nil
        }
    }
}

extension FieldType where Value == Bool {
    /// `true` or `false`.
    public static var boolean: FieldType {
        FieldType(schema: ["type": "boolean"]) { place, findings in
            if case .bool(let flag) = place.node.content { return flag }
            findings.report(
                place, "this must be true or false, not \(place.node.json.kindName)",
                hint: place.plainHint { $0 == "true" || $0 == "false" } ?? "write true or false, without quotes")
            return nil
        }
    }
}

extension FieldType where Value == Int {
    /// A whole number within bounds.
    public static func integer(_ bounds: ClosedRange<Int>) -> FieldType {
        FieldType(schema: .integer(bounds)) { place, findings in
            guard case .number(let number) = place.node.content else {
                findings.report(
                    place, "this must be a whole number, not \(place.node.json.kindName)",
                    hint: place.plainHint { Int($0) != nil } ?? "for example \(bounds.example)")
                return nil
            }
            if let value = number.int, bounds.contains(value) { return value }
            findings.report(
                place, "\(number.literal) is not a whole number from \(bounds.lowerBound) to \(bounds.upperBound)",
                hint: "for example \(bounds.example)")
            return nil
        }
    }
}

extension ClosedRange where Bound: ExpressibleByIntegerLiteral {
    /// A number within the bounds, for hints: 2, or the nearest to it.
    var example: Bound { Swift.min(Swift.max(lowerBound, 2), upperBound) }
}

extension JSON {
    /// The schema of a whole number within bounds.
    static func integer(_ bounds: ClosedRange<Int>) -> JSON {
        [
            "type": "integer", "minimum": .number(JSONNumber(bounds.lowerBound)),
            "maximum": .number(JSONNumber(bounds.upperBound)),
        ]
    }
}

extension FieldType where Value: RawRepresentable, Value.RawValue == String, Value: CaseIterable {
    /// One of a fixed set of words.
    public static func word(_ noun: String) -> FieldType {
        let words = Value.allCases.map(\.rawValue)
        return FieldType(schema: ["type": "string", "enum": .array(words.map(JSON.string))]) { place, findings in
            guard let text = FieldType<String>.string.read(place, findings) else { return nil }
            if let value = Value(rawValue: text) { return value }
            let meant = Suggestion.nearest(to: text, among: words) ?? WordAlias.meaning(of: text, among: words)
            let start =
                TemplateReader.hasExpression(text)
                ? "an expression cannot stand here: it is one of " : meant.map { "did you mean \"\($0)\"? There are " }
            findings.report(
                place, "there is no \(noun) called '\(text)'",
                hint: (start ?? "there are ") + words.map { "\"\($0)\"" }.joined(separator: ", "))
            return nil
        }
    }
}

extension SourceLocation {
    /// The hint for a string where something without quotes belongs, when the string holds just that.
    fileprivate func plainHint(_ isMeant: (String) -> Bool) -> String? {
        guard let text else { return nil }
        if TemplateReader.hasExpression(text) { return "an expression cannot stand here" }
        return isMeant(text) ? "write \(text) without quotes" : nil
    }

    /// The hint for something that lacks the quotes of a string.
    fileprivate var quotesHint: String? {
        switch node.content {
        case .number, .bool: "put it in quotes: \"\(node.json.text)\""
        default: nil
        }
    }
}
