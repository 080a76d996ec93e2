public import JSONPath

extension FieldType {
    /// An array whose elements are read alike; elements with mistakes are left out after they were reported.
    public static func array<Element: Sendable>(
        of element: FieldType<Element>, atLeast minimum: Int = 0
    ) -> FieldType<[Element]> where Value == [Element] {
        FieldType(schema: .array(of: element.schema, atLeast: minimum)) { place, findings in
            guard let elements = place.elements else {
                findings.report(
                    place, "this must be an array, not \(place.node.json.kindName)",
                    hint: place.bracketsHint(of: element.schema))
                return nil
            }
            if elements.count < minimum {
                findings.report(
                    place, "this array must not be empty",
                    hint: minimum == 1 ? "give it at least one element" : "it needs at least \(minimum)")
            }
            return elements.compactMap { element.read($0, findings) }
        }
    }

    /// An object whose keys are the author's own; every key counts and the order is kept.
    public static func map<Element: Sendable>(
        of element: FieldType<Element>
    ) -> FieldType<[Named<Element>]> where Value == [Named<Element>] {
        FieldType(schema: ["type": "object", "additionalProperties": element.schema]) { place, findings in
            guard let members = place.members else {
                findings.report(
                    place, "this must be an object of names and values, not \(place.node.json.kindName)",
                    hint: place.node.content.isArray ? "write { \"NAME\": … } instead of a list" : nil)
                return nil
            }
            return members.compactMap { member, place in
                element.read(place, findings).map { Named(name: member.name, range: member.nameRange, value: $0) }
            }
        }
    }

    /// An object with the given fields, made into a value; nil when something required is missing or wrong.
    public static func object(
        _ fields: [any AnyField], _ make: @escaping @Sendable (ObjectReader) -> Value?
    ) -> FieldType {
        let table = FieldTable(fields)
        return FieldType(schema: fields.objectSchema) { place, findings in
            guard let reader = ObjectReader(place, table: table, findings: findings) else { return nil }
            let value = make(reader)
            return reader.finish() ? value : nil
        }
    }

    /// Either of two forms, told apart by whether the value is of the first one's JSON type.
    public static func either(
        _ first: FieldType, when isFirst: @escaping @Sendable (JSONNode.Content) -> Bool, or second: FieldType
    ) -> FieldType {
        FieldType(schema: ["anyOf": [first.schema, second.schema]]) { place, findings in
            isFirst(place.node.content) ? first.read(place, findings) : second.read(place, findings)
        }
    }
}

extension JSON {
    fileprivate static func array(of element: JSON, atLeast minimum: Int) -> JSON {
        var schema: JSONObject = ["type": "array", "items": element]
        if minimum > 0 { schema["minItems"] = .number(JSONNumber(minimum)) }
        return .object(schema)
    }
}

extension SourceLocation {
    fileprivate func bracketsHint(of element: JSON) -> String {
        if element["title"] == "stage", let first = members?.first, first.place.node.content.isObject {
            return "write a list, the names as ids: [ { \"id\": \"\(first.member.name)\", … } ]"
        }
        if element["type"] == "object", !node.content.isObject, let names = element["properties"]?.object?.names {
            let required = element["required"]?.array?.compactMap(\.string) ?? Array(names.prefix(1))
            return "write a list of objects: [ { " + required.map { "\"\($0)\": …" }.joined(separator: ", ") + " } ]"
        }
        let text = node.content.isObject ? "" : node.json.text
        return text.isEmpty || text.utf8.count > 40 ? "put it in [ ]" : "write [\(text)]"
    }
}

/// A value under a name that the author chose.
public struct Named<Value: Sendable>: Sendable {
    /// The key.
    public let name: String
    /// The place where the name stands.
    public let range: SourceRange
    /// The value under the key.
    public let value: Value
}

extension JSONNode.Content {
    /// True if the value is a string.
    package var isString: Bool { if case .string = self { true } else { false } }
    /// True if the value is an array.
    package var isArray: Bool { if case .array = self { true } else { false } }
    /// True if the value is an object.
    package var isObject: Bool { if case .object = self { true } else { false } }
}
