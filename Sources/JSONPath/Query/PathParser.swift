/// Reads a query by the grammar of RFC 9535 (appendix A) and checks its types (section 2.4.3) as it goes.
struct PathParser {
    var reader: PathReader
    let root: String
    private(set) var warnings: [JSONPathError] = []

    init(_ text: String, root: String) {
        reader = PathReader(text)
        self.root = root
    }

    /// A whole query.
    mutating func query() throws(JSONPathError) -> [PathSegment] {
        guard takeRoot() else { throw reader.unexpected("“\(root)”", hint: "a query begins with \(root)") }
        let segments = try segments()
        if reader.isAtEnd { return segments }
        if let byte = reader.current, byte <= 0x20 { throw reader.error("white space after the end of the query") }
        throw reader.unexpected("“.”, “[” or the end", hint: nameHint)
    }

    private var nameHint: String? {
        reader.current == UInt8(ascii: "-") ? "a name with “-” in it is written ['first-name']" : nil
    }

    /// Takes the root's spelling, after which no letter may follow.
    mutating func takeRoot() -> Bool {
        let start = reader.offset
        guard reader.take(root) else { return false }
        if let next = reader.current, next.isWordByte {
            reader.move(to: start)
            return false
        }
        return true
    }

    mutating func warn(_ warning: JSONPathError) { warnings.append(warning) }

    /// `*(S segment)`: white space is taken only before a segment.
    mutating func segments() throws(JSONPathError) -> [PathSegment] {
        var segments: [PathSegment] = []
        while true {
            let start = reader.offset
            reader.skipWhitespace()
            switch reader.current {
            case UInt8(ascii: "["):
                segments.append(PathSegment(isDescendant: false, selectors: try bracketed()))
            case UInt8(ascii: "."):
                reader.advance()
                segments.append(try dotted())
            default:
                reader.move(to: start)
                return segments
            }
        }
    }

    /// Returns what follows a dot.
    private mutating func dotted() throws(JSONPathError) -> PathSegment {
        let isDescendant = reader.take(".")
        switch reader.current {
        case UInt8(ascii: "*"):
            reader.advance()
            return PathSegment(isDescendant: isDescendant, selectors: [.wildcard])
        case UInt8(ascii: "[") where isDescendant:
            return PathSegment(isDescendant: true, selectors: try bracketed())
        case let byte? where byte.isWordByte && !byte.isDigit:
            return PathSegment(isDescendant: isDescendant, selectors: [.name(reader.takeText(while: \.isWordByte))])
        default:
            throw reader.unexpected(
                isDescendant ? "a name, “*” or “[”" : "a name or “*”",
                hint: "names with other characters are written ['first name'], indices [0]")
        }
    }

    /// `[selector, …]`.
    private mutating func bracketed() throws(JSONPathError) -> [PathSelector] {
        let opening = reader.offset
        reader.advance()
        var selectors: [PathSelector] = []
        while true {
            reader.skipWhitespace()
            selectors.append(try selector())
            reader.skipWhitespace()
            if reader.take("]") { return selectors }
            if reader.isAtEnd { throw reader.error("a “[” without its “]”", at: opening) }
            guard reader.take(",") else { throw unexpectedInCondition("“,” or “]”") }
        }
    }

    private mutating func selector() throws(JSONPathError) -> PathSelector {
        switch reader.current {
        case UInt8(ascii: "'"), UInt8(ascii: "\""): return .name(try string())
        case UInt8(ascii: "*"):
            reader.advance()
            return .wildcard
        case UInt8(ascii: "?"):
            reader.advance()
            reader.skipWhitespace()
            return .filter(try condition())
        case UInt8(ascii: ":"), UInt8(ascii: "-"): return try indexOrSlice()
        case let byte? where byte.isDigit: return try indexOrSlice()
        default:
            let isName = reader.current?.isWordByte == true
            throw reader.unexpected("a selector", hint: isName ? "names need quotes: ['name']" : nil)
        }
    }

    private mutating func indexOrSlice() throws(JSONPathError) -> PathSelector {
        var slice = PathSlice()
        if reader.current != UInt8(ascii: ":") {
            let index = try integer()
            let end = reader.offset
            reader.skipWhitespace()
            guard reader.current == UInt8(ascii: ":") else {
                reader.move(to: end)
                return .index(index)
            }
            slice.start = index
        }
        reader.advance()
        reader.skipWhitespace()
        if let end = try optionalInteger() { slice.end = end }
        reader.skipWhitespace()
        if reader.take(":") {
            reader.skipWhitespace()
            if let step = try optionalInteger() { slice.step = step }
        }
        return .slice(slice)
    }

    private mutating func optionalInteger() throws(JSONPathError) -> Int? {
        guard let byte = reader.current, byte.isDigit || byte == UInt8(ascii: "-") else { return nil }
        return try integer()
    }

    /// An integer without leading zeros, within what I-JSON can tell exactly (RFC 9535, section 2.1).
    private mutating func integer() throws(JSONPathError) -> Int {
        let start = reader.offset
        let isNegative = reader.take("-")
        let digits = reader.takeText(while: \.isDigit)
        if digits.isEmpty { throw reader.unexpected("a digit") }
        if digits.utf8.first == UInt8(ascii: "0"), digits.utf8.count > 1 || isNegative {
            throw reader.error("an index with a leading zero or “-0”", at: start, hint: "write 0, 1 or -1")
        }
        guard let value = Int(digits), value <= 9_007_199_254_740_991 else {
            throw reader.error("an index beyond 2^53 - 1", at: start, hint: "RFC 9535 allows no larger one")
        }
        return isNegative ? -value : value
    }
}
