/// A JSON value with the places of a source text: what a definition is read from, so that every mistake can point.
public struct JSONNode: Sendable {
    /// The place where the value stands in its source.
    public let range: SourceRange
    /// The value, its children with places of their own.
    public let content: Content

    /// A value with the bytes that it stands in.
    public init(range: SourceRange, content: Content) {
        self.range = range
        self.content = content
    }

    /// The kinds of value.
    public enum Content: Sendable {
        case null
        case bool(Bool)
        case number(JSONNumber)
        case string(String)
        case array([JSONNode])
        case object([Member])
    }

    /// One member of an object, in the document's order; names are unique after parsing.
    public struct Member: Sendable {
        /// The name, its escapes resolved.
        public let name: String
        /// The place where the name stands, its quotes included.
        public let nameRange: SourceRange
        /// The value with its place.
        public let value: JSONNode

        /// A member of an object, with the bytes that its name stands in.
        public init(name: String, nameRange: SourceRange, value: JSONNode) {
            self.name = name
            self.nameRange = nameRange
            self.value = value
        }
    }

    /// The value without places.
    public var json: JSON {
        switch content {
        case .null: .null
        case .bool(let flag): .bool(flag)
        case .number(let number): .number(number)
        case .string(let text): .string(text)
        case .array(let elements): .array(elements.map(\.json))
        case .object(let members): .object(JSONObject(members.map { ($0.name, $0.value.json) }))
        }
    }

    /// The member of that name; nil when there is none or this is not an object.
    public func member(_ name: String) -> Member? {
        guard case .object(let members) = content else { return nil }
        return members.first { $0.name.hasSameScalars(as: name) }
    }

    /// The value of the member of that name.
    public subscript(name: String) -> JSONNode? { member(name)?.value }
}
