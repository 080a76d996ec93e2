public import JSONPath

/// A JSON Schema (2020-12) that values of a document are checked against, so that mistakes point into the file.
///
/// It knows `type`, `enum`, `const`, `required`, `properties`, `additionalProperties`, `items`, `minimum`, `maximum`,
/// `exclusiveMinimum`, `exclusiveMaximum`, `minLength`, `maxLength`, `pattern` (``LinearRegex``), `minItems`,
/// `maxItems`, `anyOf`, `oneOf`, `allOf` and `description`; other keywords are ignored, so it accepts more than the
/// whole standard would, never less.
package struct JSONSchema: Sendable {
    /// The mistakes of the schema itself, each with the JSON Pointer of its place; such a keyword is ignored.
    package let problems: [String]
    /// The schema as it was given.
    package let json: JSON
    private let rule: SchemaRule

    package init(_ json: JSON) {
        var reading = SchemaReading()
        rule = reading.rule(json, at: "")
        problems = reading.problems
        self.json = json
    }

    /// The mistakes of a value of a document; strings with `${{ }}` pass, since their values are not known yet.
    package func mistakes(at place: SourceLocation) -> [Diagnostic] { mistakes(at: place, passingTemplates: true) }

    /// The mistakes of a value that has no place: each as a pointer into it and a message.
    package func mistakes(in value: JSON) -> [(pointer: String, message: String)] {
        mistakes(at: SourceLocation(JSONNode(value)), passingTemplates: false).map { ($0.pointer, $0.message) }
    }

    private func mistakes(at place: SourceLocation, passingTemplates: Bool) -> [Diagnostic] {
        var check = SchemaCheck(passesTemplates: passingTemplates)
        check.check(place, rule)
        return check.mistakes
    }
}

extension JSONNode {
    /// A value without places, as if it stood at the start of its source.
    fileprivate init(_ json: JSON) {
        let nowhere = SourceRange(start: 0, end: 0)
        let content: Content =
            switch json {
            case .null: .null
            case .bool(let flag): .bool(flag)
            case .number(let number): .number(number)
            case .string(let text): .string(text)
            case .array(let elements): .array(elements.map { JSONNode($0) })
            case .object(let members):
                .object(members.map { Member(name: $0.name, nameRange: nowhere, value: JSONNode($0.value)) })
            }
        self.init(range: nowhere, content: content)
    }
}

extension JSON {
    /// The schema of a configuration as a document has it: wherever a value of another form may stand, a string with
    /// an expression may too.
    public static func schemaWithTemplates(_ schema: JSON) -> JSON {
        guard case .object(let members) = schema else { return schema }
        let inner = SubschemaWalk.map(members) { child, _ in schemaWithTemplates(child) }
        if members["type"]?.string == "string", members["enum"] == nil, members["const"] == nil,
            members["pattern"] == nil, members["minLength"] == nil, members["maxLength"] == nil
        {
            return .object(inner)
        }
        if members.isEmpty || members["type"] == nil && members["enum"] == nil && members["const"] == nil {
            return .object(inner)
        }
        return ["anyOf": [.object(inner), anyTemplate]]
    }
}
