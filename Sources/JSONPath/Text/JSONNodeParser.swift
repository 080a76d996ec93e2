/// The parser of definitions: tolerant of comments and trailing commas, exact about places, telling about mistakes.
///
/// Mistakes whose meaning is plain are noted and read over; the first that is not ends the reading.
struct JSONNodeParser {
    var scanner: JSONScanner
    var errors: [JSONSyntaxError] = []
    private let lineNumber: (Int) -> Int
    private let maximumDepth: Int
    private var depth = 0

    /// More mistakes than this aren't collected: the text is not meant to be JSON.
    private static let mostErrors = 100

    init(_ bytes: UnsafeBufferPointer<UInt8>, lineNumber: @escaping (Int) -> Int, maximumDepth: Int) {
        scanner = JSONScanner(bytes)
        self.lineNumber = lineNumber
        self.maximumDepth = maximumDepth
    }

    mutating func reading() -> JSONReading {
        do {
            let node = try document()
            return JSONReading(node: node, errors: sortedErrors)
        } catch {
            errors.append(error)
            return JSONReading(node: nil, errors: sortedErrors)
        }
    }

    private var sortedErrors: [JSONSyntaxError] {
        errors.sorted { ($0.range.start, $0.range.end) < ($1.range.start, $1.range.end) }
    }

    private mutating func document() throws(JSONSyntaxError) -> JSONNode {
        if let mistake = scanner.encodingMistake { throw mistake }
        try skipTrivia()
        guard scanner.current != nil else {
            throw JSONSyntaxError(
                "the text is empty", at: scanner.offset, length: 0, hint: "a document is one JSON value")
        }
        let node = try node()
        try skipTrivia()
        if scanner.current != nil { throw .trailing(at: scanner.offset, scanner.current) }
        return node
    }

    /// Notes a mistake that can be read over.
    mutating func note(_ error: JSONSyntaxError) throws(JSONSyntaxError) {
        if errors.count >= Self.mostErrors { throw error }
        errors.append(error)
    }

    /// A value; the offset stands on its first byte.
    private mutating func node() throws(JSONSyntaxError) -> JSONNode {
        let start = scanner.offset
        let content = try content()
        return JSONNode(range: SourceRange(start: start, end: scanner.offset), content: content)
    }

    private mutating func content() throws(JSONSyntaxError) -> JSONNode.Content {
        guard let first = scanner.current else { throw .valueMissing(at: scanner.offset) }
        switch first {
        case UInt8(ascii: "{"): return .object(try object())
        case UInt8(ascii: "["): return .array(try array())
        case UInt8(ascii: "\""): return .string(try scanner.string())
        case UInt8(ascii: "-"), 0x30...0x39: return .number(try scanner.number())
        default: return try word()
        }
    }

    private mutating func array() throws(JSONSyntaxError) -> [JSONNode] {
        let opening = try open()
        var elements: [JSONNode] = []
        while true {
            try skipTrivia()
            if close(UInt8(ascii: "]")) { return elements }
            if scanner.current == nil { throw unclosed("array", from: opening) }
            if try refuseLoneComma() { continue }
            if scanner.current == UInt8(ascii: "}") {
                throw mismatch(UInt8(ascii: "}"), UInt8(ascii: "]"), "array", from: opening)
            }
            elements.append(try node())
            try separator(before: UInt8(ascii: "]"), "array", from: opening)
        }
    }

    private mutating func object() throws(JSONSyntaxError) -> [JSONNode.Member] {
        let opening = try open()
        var members: [JSONNode.Member] = []
        var places = NameTable()
        while true {
            try skipTrivia()
            if close(UInt8(ascii: "}")) { return members }
            if scanner.current == nil { throw unclosed("object", from: opening) }
            if try refuseLoneComma() { continue }
            if scanner.current == UInt8(ascii: "]") {
                throw mismatch(UInt8(ascii: "]"), UInt8(ascii: "}"), "object", from: opening)
            }
            let member = try member()
            if let first = places.first(of: member.name, among: members) {
                try note(.duplicate(member.name, member.nameRange, line: lineNumber(first.start)))
            } else {
                members.append(member)
            }
            try separator(before: UInt8(ascii: "}"), "object", from: opening)
        }
    }

    private mutating func member() throws(JSONSyntaxError) -> JSONNode.Member {
        let start = scanner.offset
        let name = try name()
        let nameRange = SourceRange(start: start, end: scanner.offset)
        try skipTrivia()
        if scanner.current == UInt8(ascii: ":") {
            scanner.offset += 1
        } else if scanner.current == UInt8(ascii: "=") {
            try note(JSONSyntaxError("a colon is expected, not “=”", at: scanner.offset, hint: "write \"name\": value"))
            scanner.offset += 1
        } else {
            let hint = "write \"\(name)\": value"
            throw JSONSyntaxError("a colon is missing after this name", at: nameRange.end, length: 0, hint: hint)
        }
        try skipTrivia()
        if scanner.current == UInt8(ascii: ",") || scanner.current == UInt8(ascii: "}") {
            throw JSONSyntaxError("a value is missing here", at: scanner.offset, hint: "write null for no value")
        }
        return JSONNode.Member(name: name, nameRange: nameRange, value: try node())
    }

    private mutating func open() throws(JSONSyntaxError) -> Int {
        depth += 1
        if depth > maximumDepth { throw .tooDeep(at: scanner.offset, maximumDepth) }
        scanner.offset += 1
        return scanner.offset - 1
    }

    private mutating func close(_ bracket: UInt8) -> Bool {
        guard scanner.current == bracket else { return false }
        scanner.offset += 1
        depth -= 1
        return true
    }

    /// Notes a comma with nothing before it, and reads over it. Returns whether one stood here.
    private mutating func refuseLoneComma() throws(JSONSyntaxError) -> Bool {
        guard scanner.current == UInt8(ascii: ",") else { return false }
        try note(JSONSyntaxError("a comma with nothing before it", at: scanner.offset, hint: "remove this comma"))
        scanner.offset += 1
        return true
    }

    /// The comma after a value, or what ends the array or object; a missing one is noted where it should stand.
    private mutating func separator(
        before bracket: UInt8, _ kind: String, from opening: Int
    ) throws(JSONSyntaxError) {
        let end = scanner.offset
        try skipTrivia()
        guard let next = scanner.current else { throw unclosed(kind, from: opening) }
        if next == UInt8(ascii: ",") {
            scanner.offset += 1
        } else if next == bracket {
            return
        } else if next == UInt8(ascii: "]") || next == UInt8(ascii: "}") {
            throw mismatch(next, bracket, kind, from: opening)
        } else if next.beginsValue {
            try note(
                JSONSyntaxError("a comma is missing here", at: end, length: 0, hint: "put a comma after the value"))
        } else if next == UInt8(ascii: ":"), bracket == UInt8(ascii: "]") {
            throw JSONSyntaxError(
                "a name with a value stands in an array", at: scanner.offset,
                hint: "write { } for the [ ] that opens at line \(lineNumber(opening)), or put { } around each of them")
        } else {
            throw .unexpected(at: scanner.offset, in: scanner.bytes, expected: "a comma or the end of the \(kind)")
        }
    }

    private func unclosed(_ kind: String, from opening: Int) -> JSONSyntaxError {
        .unclosed(kind, from: opening, at: scanner.offset, in: scanner.bytes)
    }

    private func mismatch(_ found: UInt8, _ wanted: UInt8, _ kind: String, from opening: Int) -> JSONSyntaxError {
        let other = found == UInt8(ascii: "]") ? "[" : "{"
        let found = Character(Unicode.Scalar(found))
        let wanted = Character(Unicode.Scalar(wanted))
        return JSONSyntaxError(
            "“\(wanted)” is expected, not “\(found)”", at: scanner.offset,
            hint: "add “\(wanted)” for the \(kind) that opens at line \(lineNumber(opening)), or write “\(other)” there"
        )
    }
}

extension UInt8 {
    /// True if a value, or something that was meant as one, can begin with this byte.
    fileprivate var beginsValue: Bool {
        isWordByte || [UInt8](arrayLiteral: 0x22, 0x27, 0x2D, 0x5B, 0x7B).contains(self)
    }
}

/// The names of one object with their places, for finding those that stand twice: few are looked through faster than a
/// name is hashed.
private struct NameTable {
    private static let few = 12
    private var places: [SameScalars: SourceRange] = [:]
    /// The number of members that are in the table.
    private var count = 0

    /// Returns the place of the name where it stands among the members already.
    mutating func first(of name: String, among members: [JSONNode.Member]) -> SourceRange? {
        guard members.count > Self.few else {
            return members.first { $0.name.hasSameScalars(as: name) }?.nameRange
        }
        for member in members[count...] { places[SameScalars(text: member.name)] = member.nameRange }
        count = members.count
        return places[SameScalars(text: name)]
    }

    private struct SameScalars: Hashable {
        let text: String
        static func == (left: Self, right: Self) -> Bool { left.text.hasSameScalars(as: right.text) }
        func hash(into hasher: inout Hasher) { hasher.combine(text.scalarHash) }
    }
}
