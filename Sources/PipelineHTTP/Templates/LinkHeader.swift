/// The `Link` header (RFC 8288, section 3).
package enum LinkHeader {
    /// The target of the first link of a relation, as it was written: perhaps relative.
    ///
    /// - Parameter value: the field's lines joined by commas. Relations are compared without case; commas, semicolons
    ///   and angle brackets in quotes count as text. A link with a context of its own (`anchor`) is about something else.
    package static func target(of relation: String, in value: String) -> String? {
        var scanner = LinkScanner(value)
        let wanted = relation.lowercased()
        while let link = scanner.next() {
            guard !link.parameters.contains(where: { $0.name == "anchor" }) else { continue }
            // Of several `rel` only the first counts (section 3.3).
            let relations = link.parameters.first { $0.name == "rel" }?.value ?? ""
            if relations.lowercased().split(separator: " ").contains(Substring(wanted)) { return link.target }
        }
        return nil
    }
}

/// Reads one link after the other; what is no link is skipped up to the next comma.
private struct LinkScanner {
    struct Link {
        let target: String
        var parameters: [(name: String, value: String)] = []
    }

    private var rest: Substring.UnicodeScalarView

    init(_ text: String) { rest = Substring(text).unicodeScalars }

    mutating func next() -> Link? {
        while true {
            skip { $0 == "," || $0 == " " || $0 == "\t" }
            guard let first = rest.first else { return nil }
            guard first == "<" else {
                skip { $0 != "," }
                continue
            }
            rest.removeFirst()
            var link = Link(target: take { $0 != ">" }.trimmed)
            guard rest.popFirst() != nil else { return nil }
            readParameters(into: &link)
            return link
        }
    }

    private mutating func readParameters(into link: inout Link) {
        while true {
            skip { $0 == " " || $0 == "\t" }
            guard rest.first == ";" else { return }
            rest.removeFirst()
            let name = take { $0 != "=" && $0 != ";" && $0 != "," }.trimmed.lowercased()
            var value = ""
            if rest.first == "=" {
                rest.removeFirst()
                skip { $0 == " " || $0 == "\t" }
                value = rest.first == "\"" ? quoted() : take { $0 != ";" && $0 != "," }.trimmed
            }
            link.parameters.append((name, value))
        }
    }

    /// A quoted string (RFC 9110, section 5.6.4).
    private mutating func quoted() -> String {
        rest.removeFirst()
        var text = String.UnicodeScalarView()
        while let scalar = rest.popFirst(), scalar != "\"" {
            if scalar == "\\", let escaped = rest.popFirst() { text.append(escaped) } else { text.append(scalar) }
        }
        return String(text)
    }

    private mutating func take(while isPart: (Unicode.Scalar) -> Bool) -> String {
        let part = rest.prefix(while: isPart)
        rest = rest[part.endIndex...]
        return String(part)
    }

    private mutating func skip(while isPart: (Unicode.Scalar) -> Bool) { rest = rest.drop(while: isPart) }
}

extension String {
    fileprivate var trimmed: String {
        String(drop { $0 == " " || $0 == "\t" }.reversed().drop { $0 == " " || $0 == "\t" }.reversed())
    }
}
