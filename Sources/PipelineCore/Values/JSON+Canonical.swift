package import JSONPath

extension JSON {
    /// The same value in one form for all that are equal: whole numbers without a fraction, members by name (after RFC 8785).
    package var canonical: JSON {
        switch self {
        case .null, .bool, .string: self
        case .number(let number): number.int.map { .number(JSONNumber($0)) } ?? self
        case .array(let elements): .array(elements.map(\.canonical))
        case .object(let members):
            .object(JSONObject(members.sorted { $0.name < $1.name }.map { ($0.name, $0.value.canonical) }))
        }
    }
}
