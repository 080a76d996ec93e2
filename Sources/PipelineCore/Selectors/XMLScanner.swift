/// A small pull reader of XML 1.0 (fifth edition) for answers of servers.
///
/// It has no document types, so there are no entities but the five of section 4.6 and character references, nothing
/// is ever fetched, and nothing expands. Nesting is bounded, input is UTF-8. Attributes are read over.
struct XMLScanner {
    enum Event: Equatable {
        /// The local name, without a prefix.
        case start(String)
        case text([UInt8])
        case end
    }

    static let deepestNesting = 512

    private let bytes: [UInt8]
    private var position = 0
    private var open: [ArraySlice<UInt8>] = []
    private var hasRoot = false
    /// An empty element gives its end with the next call.
    private var pendingEnd = false

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
    }

    mutating func next() throws(XMLFailure) -> Event? {
        if pendingEnd {
            pendingEnd = false
            open.removeLast()
            return .end
        }
        while position < bytes.count {
            guard bytes[position] == UInt8(ascii: "<") else {
                if let text = try text() { return text }
                continue
            }
            if let event = try markup() { return event }
        }
        guard hasRoot, open.isEmpty else {
            throw fail(hasRoot ? "the element <\(name(open.last))> is never closed" : "there is no element")
        }
        return nil
    }

    static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x0A || byte == 0x09 || byte == 0x0D }

    private func fail(_ message: String) -> XMLFailure { XMLFailure(offset: position, message: message) }

    private func name(_ bytes: ArraySlice<UInt8>?) -> String { String(decoding: bytes ?? [], as: UTF8.self) }

    private func starts(with text: StaticString) -> Bool {
        guard bytes.count - position >= text.utf8CodeUnitCount else { return false }
        return (0..<text.utf8CodeUnitCount).allSatisfy { bytes[position + $0] == text.utf8Start[$0] }
    }

    /// Moves behind the next occurrence and gives what stood before it.
    private mutating func skip(through end: StaticString, _ what: String) throws(XMLFailure) -> ArraySlice<UInt8> {
        let start = position
        while position < bytes.count {
            if starts(with: end) {
                defer { position += end.utf8CodeUnitCount }
                return bytes[start..<position]
            }
            position += 1
        }
        position = start
        throw fail("\(what) is never closed")
    }
}

// MARK: - Markup

extension XMLScanner {
    private mutating func markup() throws(XMLFailure) -> Event? {
        if starts(with: "<!--") {
            position += 4
            _ = try skip(through: "-->", "a comment")
            return nil
        }
        if starts(with: "<![CDATA[") {
            guard !open.isEmpty else { throw fail("text stands outside of the element") }
            position += 9
            return .text(Array(try skip(through: "]]>", "a CDATA section")))
        }
        if starts(with: "<!") { throw fail("a document type is not read, as it could define or fetch anything") }
        if starts(with: "<?") { return try instruction() }
        return starts(with: "</") ? try closing() : try opening()
    }

    private mutating func instruction() throws(XMLFailure) -> Event? {
        let start = position
        position += 2
        let content = name(try skip(through: "?>", "a processing instruction"))
        guard content.hasPrefix("xml "), let encoding = Self.encoding(of: content) else { return nil }
        guard ["utf-8", "us-ascii", "ascii"].contains(encoding.lowercased()) else {
            position = start
            throw fail("the encoding \(encoding) is not read, only UTF-8")
        }
        return nil
    }

    private static func encoding(of declaration: String) -> String? {
        guard let place = declaration.firstRange(of: "encoding") else { return nil }
        let quoted = declaration[place.upperBound...].drop { $0 != "\"" && $0 != "'" }
        guard let quote = quoted.first else { return nil }
        return String(quoted.dropFirst().prefix { $0 != quote })
    }

    private mutating func opening() throws(XMLFailure) -> Event {
        guard !open.isEmpty || !hasRoot else { throw fail("there is more than one root element") }
        guard open.count < Self.deepestNesting else {
            throw fail("elements are nested deeper than \(Self.deepestNesting)")
        }
        position += 1
        let element = try elementName()
        try skipAttributes()
        if starts(with: "/") {
            position += 1
            pendingEnd = true
        }
        guard starts(with: ">") else { throw fail("the tag <\(name(element))> is never closed") }
        position += 1
        open.append(element)
        hasRoot = true
        let local = element.lastIndex(of: UInt8(ascii: ":")).map { element[($0 + 1)...] } ?? element
        return .start(name(local))
    }

    private mutating func closing() throws(XMLFailure) -> Event {
        position += 2
        let element = try elementName()
        while position < bytes.count, Self.isSpace(bytes[position]) { position += 1 }
        guard starts(with: ">") else { throw fail("the tag </\(name(element))> is never closed") }
        guard let last = open.popLast() else { throw fail("</\(name(element))> closes nothing") }
        guard last == element else { throw fail("</\(name(element))> stands where </\(name(last))> must") }
        position += 1
        return .end
    }

    private mutating func elementName() throws(XMLFailure) -> ArraySlice<UInt8> {
        let start = position
        while position < bytes.count, !Self.isSpace(bytes[position]), !"/>=<\"'&".utf8.contains(bytes[position]) {
            position += 1
        }
        guard position > start else { throw fail("an element's name is missing") }
        return bytes[start..<position]
    }

    private mutating func skipAttributes() throws(XMLFailure) {
        while true {
            while position < bytes.count, Self.isSpace(bytes[position]) { position += 1 }
            guard position < bytes.count, !starts(with: ">"), !starts(with: "/") else { return }
            _ = try elementName()
            while position < bytes.count, Self.isSpace(bytes[position]) || starts(with: "=") { position += 1 }
            guard starts(with: "\"") || starts(with: "'") else { throw fail("an attribute has no value in quotes") }
            let quote = bytes[position]
            guard let end = bytes[(position + 1)...].firstIndex(of: quote) else {
                throw fail("an attribute's value is never closed")
            }
            position = end + 1
        }
    }
}

// MARK: - Text

extension XMLScanner {
    private mutating func text() throws(XMLFailure) -> Event? {
        let start = position
        var content: [UInt8] = []
        while position < bytes.count, bytes[position] != UInt8(ascii: "<") {
            if bytes[position] == UInt8(ascii: "&") {
                content += try reference()
            } else {
                content.append(bytes[position])
                position += 1
            }
        }
        guard open.isEmpty else { return .text(content) }
        guard content.allSatisfy(Self.isSpace) else {
            throw XMLFailure(offset: start, message: "text stands outside of the element")
        }
        return nil
    }

    private mutating func reference() throws(XMLFailure) -> [UInt8] {
        let limit = min(position + 12, bytes.count)
        guard let end = bytes[position..<limit].firstIndex(of: UInt8(ascii: ";")) else {
            throw fail("\"&\" starts no character reference")
        }
        let entity = name(bytes[(position + 1)..<end])
        let predefined = ["lt": "<", "gt": ">", "amp": "&", "quot": "\"", "apos": "'"]
        guard let text = predefined[entity] ?? Self.character(entity) else {
            throw fail("&\(entity); is not known: only the five entities of XML and character references are")
        }
        position = end + 1
        return Array(text.utf8)
    }

    private static func character(_ entity: String) -> String? {
        let code: UInt32? =
            entity.hasPrefix("#x")
            ? UInt32(entity.dropFirst(2), radix: 16)
            : entity.hasPrefix("#") ? UInt32(entity.dropFirst()) : nil
        guard let code, code >= 0x20 || [9, 10, 13].contains(code), let scalar = Unicode.Scalar(code) else {
            return nil
        }
        return String(Character(scalar))
    }
}
