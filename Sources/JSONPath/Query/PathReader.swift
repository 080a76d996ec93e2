/// The bytes of a query and the place in them.
struct PathReader {
    private let bytes: [UInt8]
    private(set) var offset = 0
    private var depth = 0

    /// Filters, parentheses and functions nested deeper than this are refused before the parser recurses.
    private static let deepestNesting = 64

    init(_ text: String) { bytes = Array(text.utf8) }

    var current: UInt8? { offset < bytes.count ? bytes[offset] : nil }
    var isAtEnd: Bool { offset == bytes.count }

    func peek(_ distance: Int) -> UInt8? { offset + distance < bytes.count ? bytes[offset + distance] : nil }

    mutating func advance() { offset += 1 }

    /// Goes back to an offset that was read from ``offset``.
    mutating func move(to offset: Int) { self.offset = offset }

    mutating func skipWhitespace() {
        while let byte = current, byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D { offset += 1 }
    }

    /// Takes this text when the query goes on with it.
    mutating func take(_ text: String) -> Bool {
        guard bytes[offset...].starts(with: text.utf8) else { return false }
        offset += text.utf8.count
        return true
    }

    /// Takes bytes as long as they are wanted.
    mutating func takeText(while wanted: (UInt8) -> Bool) -> String {
        let start = offset
        while let byte = current, wanted(byte) { offset += 1 }
        return text(from: start)
    }

    func text(from start: Int) -> String { String(decoding: bytes[start..<offset], as: UTF8.self) }

    mutating func enter() throws(JSONPathError) {
        depth += 1
        if depth > Self.deepestNesting { throw error("nested deeper than \(Self.deepestNesting) levels") }
    }

    mutating func leave() { depth -= 1 }

    /// An error at the current place, or at another.
    func error(_ message: String, at place: Int? = nil, hint: String? = nil) -> JSONPathError {
        JSONPathError(offset: place ?? offset, message: message, hint: hint)
    }

    /// An error about what stands here.
    func unexpected(_ expected: String, hint: String? = nil) -> JSONPathError {
        guard let byte = current else { return error("the query ends where \(expected) is expected", hint: hint) }
        let found = bytes.withUnsafeBufferPointer { JSONSyntaxError.name(at: offset, in: $0) }
        let isBlank = byte <= 0x20
        return error("\(expected) is expected, not \(isBlank ? "white space" : found)", hint: hint)
    }
}
