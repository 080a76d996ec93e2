/// A JSON Pointer (RFC 6901): the place of one value in a document, e.g. `/stages/0/kind`; empty for the whole.
public struct JSONPointer: Sendable, Hashable {
    /// The names and indices on the way, unescaped.
    public let tokens: [String]

    /// The pointer to the whole document.
    public static let root = JSONPointer(tokens: [])

    /// A pointer from names and indices as they are, unescaped.
    public init(tokens: [String]) { self.tokens = tokens }

    /// Reads a pointer from its text: empty, or tokens each after a `/`, with `~1` for `/` and `~0` for `~`.
    public init(_ text: String) throws(JSONPointerError) {
        var reader = TokenReader()
        var offset = 0
        for byte in text.utf8 {
            try reader.take(byte, at: offset)
            offset += 1
        }
        tokens = try reader.end(at: offset)
    }

    /// The pointer to a member of the object that this one points to.
    public func appending(_ name: String) -> JSONPointer { JSONPointer(tokens: tokens + [name]) }

    /// The pointer to an element of the array that this one points to.
    public func appending(_ index: Int) -> JSONPointer { appending(String(index)) }

    /// The pointer to what holds the value; nil for the whole document.
    public var parent: JSONPointer? { tokens.isEmpty ? nil : JSONPointer(tokens: tokens.dropLast()) }

    /// Takes the bytes of a pointer one by one.
    private struct TokenReader {
        private var tokens: [String] = []
        private var token: [UInt8]?
        private var isEscaped = false

        mutating func take(_ byte: UInt8, at offset: Int) throws(JSONPointerError) {
            if isEscaped {
                guard byte == UInt8(ascii: "0") || byte == UInt8(ascii: "1") else { throw .badEscape(at: offset - 1) }
                token?.append(byte == UInt8(ascii: "0") ? UInt8(ascii: "~") : UInt8(ascii: "/"))
                isEscaped = false
            } else if byte == UInt8(ascii: "/") {
                finishToken()
                token = []
            } else if token == nil {
                throw .slashMissing
            } else if byte == UInt8(ascii: "~") {
                isEscaped = true
            } else {
                token?.append(byte)
            }
        }

        mutating func end(at offset: Int) throws(JSONPointerError) -> [String] {
            if isEscaped { throw .badEscape(at: offset - 1) }
            finishToken()
            return tokens
        }

        private mutating func finishToken() {
            if let token { tokens.append(String(decoding: token, as: UTF8.self)) }
        }
    }
}

extension JSONPointer: CustomStringConvertible {
    /// The pointer's text, escaped; what ``init(_:)`` reads.
    public var description: String {
        var bytes: [UInt8] = []
        for token in tokens {
            bytes.append(UInt8(ascii: "/"))
            for byte in token.utf8 {
                switch byte {
                case UInt8(ascii: "~"): bytes.append(contentsOf: "~0".utf8)
                case UInt8(ascii: "/"): bytes.append(contentsOf: "~1".utf8)
                default: bytes.append(byte)
                }
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
