extension JSONPointer {
    /// The value that the pointer names (RFC 6901, section 4); nil when there is none.
    ///
    /// `-`, the element after an array's last, names nothing.
    public func value(in document: JSON) -> JSON? {
        var value = document
        for token in tokens {
            switch value {
            case .object(let members):
                guard let member = members[token] else { return nil }
                value = member
            case .array(let elements):
                guard let index = Self.index(token), index < elements.count else { return nil }
                value = elements[index]
            default: return nil
            }
        }
        return value
    }

    /// The node that the pointer names; nil when there is none.
    public func node(in document: JSONNode) -> JSONNode? {
        var node = document
        for token in tokens {
            guard let child = Self.child(token, of: node) else { return nil }
            node = child
        }
        return node
    }

    private static func child(_ token: String, of node: JSONNode) -> JSONNode? {
        switch node.content {
        case .object: return node.member(token)?.value
        case .array(let elements):
            guard let index = index(token), index < elements.count else { return nil }
            return elements[index]
        default: return nil
        }
    }

    /// An array index: digits without leading zeros.
    private static func index(_ token: String) -> Int? {
        guard let first = token.utf8.first, first != UInt8(ascii: "0") || token.utf8.count == 1,
            token.utf8.allSatisfy(\.isDigit)
        else { return nil }
        return Int(token)
    }
}
