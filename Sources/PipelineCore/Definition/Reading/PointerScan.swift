import JSONPath

/// Finds the JSON Pointer of a place in a text that need not be JSON: what the mistakes of syntax are reported with.
struct PointerScan {
    private enum Level {
        case object(name: String?)
        case array(index: Int)
    }

    private let source: SourceText
    private let end: Int
    private var offset = 0
    private var levels: [Level] = []
    /// The string that was read last, as long as it can still turn out to be a name.
    private var lastString: String?

    /// The pointer of the value that holds the byte at `offset`; empty for the whole document.
    static func pointer(to offset: Int, in source: SourceText) -> String {
        var scan = PointerScan(source: source, end: min(offset, source.bytes.count))
        return scan.pointer()
    }

    private init(source: SourceText, end: Int) {
        self.source = source
        self.end = end
    }

    private mutating func pointer() -> String {
        while offset < end { step() }
        return levels.compactMap { level -> String? in
            switch level {
            case .object(let name): name.map { "/" + SourceLocation.escaped($0) }
            case .array(let index): "/\(index)"
            }
        }.joined()
    }

    private mutating func step() {
        let byte = source.bytes[offset]
        switch byte {
        case UInt8(ascii: "\""): return skipString()
        case UInt8(ascii: "/"): return skipComment()
        case UInt8(ascii: "{"): levels.append(.object(name: nil))
        case UInt8(ascii: "["): levels.append(.array(index: 0))
        case UInt8(ascii: "}"), UInt8(ascii: "]"): if !levels.isEmpty { levels.removeLast() }
        case UInt8(ascii: ":"): nameMember()
        case UInt8(ascii: ","): nextElement()
        default: break
        }
        offset += 1
    }

    private mutating func nameMember() {
        if case .object? = levels.last, let lastString { levels[levels.count - 1] = .object(name: lastString) }
        lastString = nil
    }

    private mutating func nextElement() {
        switch levels.last {
        case .array(let index): levels[levels.count - 1] = .array(index: index + 1)
        case .object: levels[levels.count - 1] = .object(name: nil)
        case nil: break
        }
        lastString = nil
    }

    /// A string ends at its quote, or, when that is missing, with its line.
    private mutating func skipString() {
        let start = offset
        offset += 1
        while offset < end, source.bytes[offset] != UInt8(ascii: "\""), source.bytes[offset] != 0x0A {
            offset += source.bytes[offset] == UInt8(ascii: "\\") ? 2 : 1
        }
        let stop = min(offset, source.bytes.count)
        lastString = String(decoding: source.bytes[(start + 1)..<max(start + 1, stop)], as: UTF8.self)
        offset = stop + 1
    }

    private mutating func skipComment() {
        let next = offset + 1 < end ? source.bytes[offset + 1] : 0
        offset += 1
        if next == UInt8(ascii: "/") {
            while offset < end, source.bytes[offset] != 0x0A { offset += 1 }
        } else if next == UInt8(ascii: "*") {
            offset += 1
            while offset < end,
                !(source.bytes[offset - 1] == UInt8(ascii: "*") && source.bytes[offset] == UInt8(ascii: "/"))
            {
                offset += 1
            }
            offset += 1
        }
    }
}
