public import JSONPath

/// A value of the document together with the way to it: what a reader needs to point at a mistake.
public struct Place: Sendable {
    public let node: JSONNode
    /// The JSON Pointer (RFC 6901) of the value.
    public let pointer: String

    public init(_ node: JSONNode, pointer: String = "") {
        self.node = node
        self.pointer = pointer
    }

    /// The place of a child.
    func child(_ node: JSONNode, _ token: String) -> Place {
        let escaped = token.replacing("~", with: "~0").replacing("/", with: "~1")
        return Place(node, pointer: "\(pointer)/\(escaped)")
    }

    /// The members with their places, when the value is an object.
    var members: [(member: JSONNode.Member, place: Place)]? {
        guard case .object(let members) = node.content else { return nil }
        return members.map { ($0, child($0.value, $0.name)) }
    }

    /// The elements with their places, when the value is an array.
    var elements: [Place]? {
        guard case .array(let elements) = node.content else { return nil }
        return elements.enumerated().map { child($0.element, String($0.offset)) }
    }

    /// The text, when the value is a string.
    public var text: String? { if case .string(let text) = node.content { text } else { nil } }
}
