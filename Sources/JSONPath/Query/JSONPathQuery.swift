/// A JSONPath query (RFC 9535), read and checked: `$.jobs[?@.state == 'done'].url`.
///
/// All selectors, filters with the functions `length`, `count`, `match`, `search` and `value`; regular expressions are
/// I-Regexp (RFC 9485) and matched in linear time. Values of the wrong kind select nothing; they are no errors.
public struct JSONPathQuery: Sendable {
    /// The query as it was given.
    public let text: String
    /// The spelling of the query's root: `$`, or a name such as `$items`.
    public let root: String
    /// The parts that are allowed but never useful: regular expressions that aren't I-Regexp and so match nothing.
    public let warnings: [JSONPathError]
    let segments: [PathSegment]

    /// Reads a query that begins with `$`.
    public init(_ text: String) throws(JSONPathError) { try self.init(parsing: text, root: "$") }

    /// Reads a query whose root is spelt in another way, such as `$items`, in its filters too.
    ///
    /// What value stands for the root is the caller's choice: it is what ``nodes(in:limit:budget:)`` is given.
    public init(parsing text: String, root: String) throws(JSONPathError) {
        var parser = PathParser(text, root: root)
        segments = try parser.query()
        warnings = parser.warnings
        self.text = text
        self.root = root
    }

    /// True if the query gives at most one node, whatever the document (RFC 9535, section 1.1, "Singular Query").
    public var isSingular: Bool { segments.allSatisfy(\.isSingular) }

    /// The value at the one place that the query names before its first wildcard, slice, filter or `..`: the list whose
    /// entries are selected. Nil when there is no such place in the document.
    package func base(in document: JSON) -> (value: JSON, isRoot: Bool)? {
        var value = document
        let names = segments.prefix { $0.isSingular }
        for segment in names {
            switch (segment.selectors[0], value) {
            case (.name(let name), .object(let members)):
                guard let member = members[name] else { return nil }
                value = member
            case (.index(let index), .array(let elements)):
                let position = index < 0 ? elements.count + index : index
                guard elements.indices.contains(position) else { return nil }
                value = elements[position]
            default: return nil
            }
        }
        return (value, names.isEmpty)
    }
}

extension JSONPathQuery: Hashable, CustomStringConvertible {
    public static func == (left: JSONPathQuery, right: JSONPathQuery) -> Bool {
        left.text.hasSameScalars(as: right.text) && left.root.hasSameScalars(as: right.root)
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(text.scalarHash) }

    public var description: String { text }
}
