/// The strict parser (RFC 8259): bytes to ``JSON`` in one pass, by recursion that is capped before it recurses.
struct JSONParser {
    private var scanner: JSONScanner
    private let maximumDepth: Int
    private let duplicates: JSON.DuplicateNames
    private var depth = 0

    static func parse(
        _ bytes: UnsafeBufferPointer<UInt8>, maximumDepth: Int, duplicates: JSON.DuplicateNames
    ) -> Result<JSON, JSONSyntaxError> {
        var parser = JSONParser(
            scanner: JSONScanner(bytes, replacesLoneSurrogates: true),
            maximumDepth: maximumDepth, duplicates: duplicates)
        do {
            return .success(try parser.document())
        } catch {
            return .failure(error)
        }
    }

    private init(scanner: JSONScanner, maximumDepth: Int, duplicates: JSON.DuplicateNames) {
        self.scanner = scanner
        self.maximumDepth = maximumDepth
        self.duplicates = duplicates
    }

    private mutating func document() throws(JSONSyntaxError) -> JSON {
        if let mistake = scanner.encodingMistake { throw mistake }
        scanner.skipWhitespace()
        let value = try value()
        scanner.skipWhitespace()
        if scanner.current != nil { throw .trailing(at: scanner.offset) }
        return value
    }

    /// A value; the offset stands on its first byte.
    private mutating func value() throws(JSONSyntaxError) -> JSON {
        guard let first = scanner.current else { throw .valueMissing(at: scanner.offset) }
        switch first {
        case UInt8(ascii: "\""): return .string(try scanner.string())
        case UInt8(ascii: "{"): return .object(try object())
        case UInt8(ascii: "["): return .array(try array())
        case UInt8(ascii: "-"), 0x30...0x39: return .number(try scanner.number())
        case UInt8(ascii: "t"): if scanner.take("true") { return .bool(true) }
        case UInt8(ascii: "f"): if scanner.take("false") { return .bool(false) }
        case UInt8(ascii: "n"): if scanner.take("null") { return .null }
        default: break
        }
        throw .unexpected(at: scanner.offset, in: scanner.bytes, expected: "a value")
    }

    private mutating func array() throws(JSONSyntaxError) -> [JSON] {
        let opening = try open()
        var elements: [JSON] = []
        if close(UInt8(ascii: "]")) { return elements }
        while true {
            elements.append(try value())
            if try end(UInt8(ascii: "]"), "array", from: opening) { return elements }
        }
    }

    private mutating func object() throws(JSONSyntaxError) -> JSONObject {
        let opening = try open()
        var object = JSONObject()
        if close(UInt8(ascii: "}")) { return object }
        while true {
            let start = scanner.offset
            let name = try name(from: opening)
            let end = scanner.offset
            try colon()
            if !object.insert(name, try value()), duplicates == .error {
                throw .duplicate(name, SourceRange(start: start, end: end))
            }
            if try self.end(UInt8(ascii: "}"), "object", from: opening) { return object }
        }
    }

    private mutating func open() throws(JSONSyntaxError) -> Int {
        let opening = scanner.offset
        depth += 1
        if depth > maximumDepth { throw .tooDeep(at: opening, maximumDepth) }
        scanner.offset += 1
        scanner.skipWhitespace()
        return opening
    }

    @inline(__always)
    private mutating func close(_ bracket: UInt8) -> Bool {
        guard scanner.current == bracket else { return false }
        scanner.offset += 1
        depth -= 1
        return true
    }

    @inline(__always)
    private mutating func name(from opening: Int) throws(JSONSyntaxError) -> String {
        guard scanner.current == UInt8(ascii: "\"") else {
            if scanner.current == nil {
                throw .unclosed("object", from: opening, at: scanner.offset, in: scanner.bytes)
            }
            throw .unexpected(at: scanner.offset, in: scanner.bytes, expected: "a name in double quotes")
        }
        return try scanner.string()
    }

    @inline(__always)
    private mutating func colon() throws(JSONSyntaxError) {
        scanner.skipWhitespace()
        guard scanner.current == UInt8(ascii: ":") else {
            throw .unexpected(at: scanner.offset, in: scanner.bytes, expected: "a colon after the name")
        }
        scanner.offset += 1
        scanner.skipWhitespace()
    }

    /// Returns whether the array or object ends here; otherwise the offset stands after the comma and white space.
    @inline(__always)
    private mutating func end(_ bracket: UInt8, _ kind: String, from opening: Int) throws(JSONSyntaxError) -> Bool {
        scanner.skipWhitespace()
        if close(bracket) { return true }
        guard let next = scanner.current else {
            throw .unclosed(kind, from: opening, at: scanner.offset, in: scanner.bytes)
        }
        guard next == UInt8(ascii: ",") else {
            throw .unexpected(
                at: scanner.offset, in: scanner.bytes, expected: kind == "array" ? "a comma or “]”" : "a comma or “}”")
        }
        let comma = scanner.offset
        scanner.offset += 1
        scanner.skipWhitespace()
        if scanner.current == bracket { throw .trailingComma(at: comma) }
        return false
    }
}
