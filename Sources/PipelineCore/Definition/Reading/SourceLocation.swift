public import JSONPath

/// A value of the document together with the way to it: what a reader needs to point at a mistake.
public struct SourceLocation: Sendable {
    /// The value that stands there.
    public let node: JSONNode
    private let path: Path

    /// The way from the root. It is made into text only when something is reported.
    private indirect enum Path: Sendable {
        case start(String)
        case member(of: Path, name: String)
        case element(of: Path, index: Int)
    }

    package init(_ node: JSONNode, pointer: String = "") {
        self.node = node
        path = .start(pointer)
    }

    private init(_ node: JSONNode, path: Path) {
        self.node = node
        self.path = path
    }

    /// The JSON Pointer (RFC 6901) of the value.
    public var pointer: String {
        var tokens: [String] = []
        var current = path
        while true {
            switch current {
            case .start(let pointer): return ([pointer] + tokens.reversed()).joined(separator: "/")
            case .member(let parent, let name):
                tokens.append(Self.escaped(name))
                current = parent
            case .element(let parent, let index):
                tokens.append(String(index))
                current = parent
            }
        }
    }

    /// A name as a token of a JSON Pointer (RFC 6901, section 3).
    static func escaped(_ name: String) -> String {
        name.replacing("~", with: "~0").replacing("/", with: "~1")
    }

    /// The place of a member.
    func child(_ member: JSONNode.Member) -> SourceLocation {
        SourceLocation(member.value, path: .member(of: path, name: member.name))
    }

    /// The members with their places, when the value is an object.
    public var members: [(member: JSONNode.Member, place: SourceLocation)]? {
        guard case .object(let members) = node.content else { return nil }
        return members.map { ($0, child($0)) }
    }

    /// The elements with their places, when the value is an array.
    public var elements: [SourceLocation]? {
        guard case .array(let elements) = node.content else { return nil }
        return elements.enumerated().map { SourceLocation($0.element, path: .element(of: path, index: $0.offset)) }
    }

    /// The innermost value within this one that holds a byte of the source, or whose name does; itself when none does.
    package func descendant(at offset: Int) -> SourceLocation {
        let holds = { (range: SourceRange) in range.start <= offset && offset < range.end }
        var current = self
        while true {
            let named = current.members?.first { holds($0.member.nameRange) || holds($0.place.node.range) }?.place
            guard let next = named ?? current.elements?.first(where: { holds($0.node.range) }) else { return current }
            current = next
        }
    }

    /// The text, when the value is a string.
    public var text: String? { if case .string(let text) = node.content { text } else { nil } }
}
