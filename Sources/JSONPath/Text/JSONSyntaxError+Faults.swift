/// The mistakes that a parser can find, with their wording in one place.
extension JSONSyntaxError {
    static func tooDeep(at offset: Int, _ maximum: Int) -> Self {
        Self("nested deeper than \(maximum) levels", at: offset, hint: "flatten the document")
    }

    static func valueMissing(at offset: Int) -> Self {
        Self("the text ends where a value is expected", at: offset, length: 0)
    }

    static func unexpected(at offset: Int, in bytes: UnsafeBufferPointer<UInt8>, expected: String) -> Self {
        guard offset < bytes.count else {
            return Self("the text ends where \(expected) is expected", at: offset, length: 0)
        }
        return Self("\(expected) is expected, not \(name(at: offset, in: bytes))", at: offset)
    }

    static func unclosed(_ kind: String, from opening: Int, at offset: Int, in bytes: UnsafeBufferPointer<UInt8>)
        -> Self
    {
        let closing = kind == "object" ? "}" : "]"
        let line = bytes[..<opening].lazy.filter { $0 == 0x0A }.count + 1
        return Self(
            "the text ends inside an \(kind)", at: offset, length: 0,
            hint: "unclosed \(kind) opened at line \(line): add the missing “\(closing)”")
    }

    static func trailing(at offset: Int, _ byte: UInt8? = nil) -> Self {
        if let byte, [UInt8(ascii: "}"), UInt8(ascii: "]")].contains(byte) {
            return Self("“\(Character(Unicode.Scalar(byte)))” closes nothing", at: offset, hint: "take it out")
        }
        return Self(
            "there is something after the end of the document", at: offset, hint: "a document has one value only")
    }

    static func trailingComma(at offset: Int) -> Self {
        Self("a comma before the end", at: offset, hint: "remove the last comma")
    }

    static func duplicate(_ name: String, _ range: SourceRange, line: Int? = nil) -> Self {
        let place = line.map { "the first one is at line \($0); " } ?? ""
        return Self(
            range: range, message: "the name “\(name)” stands twice in this object", hint: place + "keep one of them")
    }

    static func digitMissing(at offset: Int, after place: String) -> Self {
        Self("a digit is missing after \(place)", at: offset, length: 0, hint: "numbers look like -1, 0.5 or 1e3")
    }

    static func leadingZero(from start: Int) -> Self {
        Self("a number with a leading zero", at: start, hint: "remove the zero, or put the digits in double quotes")
    }

    static func strayAfterNumber(from start: Int, at offset: Int) -> Self {
        Self(
            range: SourceRange(start: start, end: offset + 1), message: "this is not a number",
            hint: "text that begins with a digit needs double quotes")
    }

    static func unclosedString(from opening: Int, in bytes: UnsafeBufferPointer<UInt8>) -> Self {
        let end = bytes[opening...].firstIndex { $0 == 0x0A || $0 == 0x0D } ?? bytes.count
        return Self(
            range: SourceRange(start: opening, end: end), message: "a string without its closing quote",
            hint: "add the missing “\"”")
    }

    static func controlCharacter(at offset: Int, in bytes: UnsafeBufferPointer<UInt8>, openedAt opening: Int) -> Self {
        let byte = bytes[offset]
        if byte == 0x0A || byte == 0x0D {
            return Self(
                range: SourceRange(start: opening, end: offset), message: "a string without its closing quote",
                hint: "add the missing “\"”; a line break inside a string is written \\n")
        }
        let escape = byte == 0x09 ? "\\t" : "\\u00" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
        return Self("a control character inside a string", at: offset, hint: "write it as \(escape)")
    }

    static func invalidUTF8(in range: Range<Int>, of bytes: UnsafeBufferPointer<UInt8>) -> Self {
        Self("bytes that are not UTF-8", at: bytes.firstInvalidUTF8(in: range), hint: "save the text as UTF-8")
    }

    static func unknownEscape(at offset: Int) -> Self {
        Self(
            "an escape that JSON does not have", at: offset, length: 2,
            hint: "a backslash itself is written \\\\; the escapes are \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX")
    }

    static func shortUnicodeEscape(from start: Int, to offset: Int) -> Self {
        Self(
            range: SourceRange(start: start, end: max(offset, start + 2)),
            message: "\\u without four hexadecimal digits", hint: "write it like \\u00E9")
    }

    static func loneSurrogate(from start: Int, to end: Int) -> Self {
        Self(
            range: SourceRange(start: start, end: end), message: "half of a surrogate pair",
            hint: "a character beyond U+FFFF needs two escapes, like \\uD83D\\uDE00")
    }

    /// Returns what stands at a place, fit for a message: `“x”`, or a byte's number when it can't be shown.
    static func name(at offset: Int, in bytes: UnsafeBufferPointer<UInt8>) -> String {
        let end = min(offset + 4, bytes.count)
        let text = String(decoding: bytes[offset..<end], as: UTF8.self)
        guard let scalar = text.unicodeScalars.first, scalar != "\u{FFFD}", !scalar.isControlOrFormat else {
            return "byte " + String(bytes[offset])
        }
        return "“\(scalar)”"
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// Returns where the first byte stands that is not part of well-formed UTF-8 (Unicode 3.9, table 3-7).
    func firstInvalidUTF8(in range: Range<Int>) -> Int {
        var decoder = Unicode.UTF8.ForwardParser()
        var iterator = self[range].makeIterator()
        var offset = range.lowerBound
        while true {
            switch decoder.parseScalar(from: &iterator) {
            case .valid(let scalar): offset += scalar.count
            case .emptyInput: return offset
            case .error: return offset
            }
        }
    }
}
