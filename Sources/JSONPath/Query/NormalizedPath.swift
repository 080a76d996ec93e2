/// The place of one node as RFC 9535 section 2.7 writes it: `$['stages'][0]['kind']`.
public struct NormalizedPath: Sendable, Hashable {
    /// One step from a value to one of its children.
    public enum Element: Sendable, Hashable {
        case name(String)
        /// Counted from 0.
        case index(Int)
    }

    /// The steps from the root.
    public let elements: [Element]

    /// A place from the steps to it.
    public init(_ elements: [Element]) { self.elements = elements }

    /// The path as a JSON Pointer.
    public var pointer: JSONPointer {
        JSONPointer(
            tokens: elements.map { element in
                switch element {
                case .name(let name): name
                case .index(let index): String(index)
                }
            })
    }
}

extension NormalizedPath: CustomStringConvertible {
    public var description: String {
        elements.reduce(into: "$") { text, element in
            switch element {
            case .name(let name): text += "['" + Self.escaped(name) + "']"
            case .index(let index): text += "[\(index)]"
            }
        }
    }

    private static func escaped(_ name: String) -> String {
        var text = String.UnicodeScalarView()
        for scalar in name.unicodeScalars {
            switch scalar {
            case "'", "\\": text.append(contentsOf: ["\\", scalar])
            case "\u{08}": text.append(contentsOf: "\\b".unicodeScalars)
            case "\t": text.append(contentsOf: "\\t".unicodeScalars)
            case "\n": text.append(contentsOf: "\\n".unicodeScalars)
            case "\u{0C}": text.append(contentsOf: "\\f".unicodeScalars)
            case "\r": text.append(contentsOf: "\\r".unicodeScalars)
            case _ where scalar.value < 0x20:
                let digits = String(scalar.value, radix: 16)
                text.append(contentsOf: ("\\u00" + (digits.count == 1 ? "0" : "") + digits).unicodeScalars)
            default: text.append(scalar)
            }
        }
        return String(text)
    }
}
