/// Literals: strings, numbers, words.
extension PathParser {
    /// A string in either kind of quotes; the reader stands on the first (RFC 9535, section 2.3.1.1).
    mutating func string() throws(JSONPathError) -> String {
        let opening = reader.offset
        let quote = reader.current
        reader.advance()
        var text: [UInt8] = []
        while let byte = reader.current {
            if byte == quote {
                reader.advance()
                return String(decoding: text, as: UTF8.self)
            }
            if byte == UInt8(ascii: "\\") {
                try appendEscape(to: &text, quote: quote)
            } else if byte < 0x20 {
                throw reader.error("a control character inside a string", hint: "write it as an escape such as \\n")
            } else {
                text.append(byte)
                reader.advance()
            }
        }
        throw reader.error("a string without its closing quote", at: opening)
    }

    private mutating func appendEscape(to text: inout [UInt8], quote: UInt8?) throws(JSONPathError) {
        let start = reader.offset
        reader.advance()
        let byte = reader.current
        reader.advance()
        switch byte {
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "f"): text.append(0x0C)
        case UInt8(ascii: "n"): text.append(0x0A)
        case UInt8(ascii: "r"): text.append(0x0D)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "/"), UInt8(ascii: "\\"), quote: text.append(byte!)
        case UInt8(ascii: "u"):
            let scalar = try unicodeEscape(from: start)
            text.append(contentsOf: UTF8.encode(scalar)!)
        default:
            throw reader.error(
                "an escape that JSONPath does not have", at: start, hint: "a backslash itself is written \\\\")
        }
    }

    /// The scalar of `\uXXXX` or of a surrogate pair; the reader stands after the first `u`.
    private mutating func unicodeEscape(from start: Int) throws(JSONPathError) -> Unicode.Scalar {
        let first = try hexadecimal(from: start)
        if let scalar = Unicode.Scalar(first) { return scalar }
        guard first < 0xDC00, reader.take("\\u") else { throw loneSurrogate(at: start) }
        let second = try hexadecimal(from: start)
        guard (0xDC00...0xDFFF).contains(second),
            let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
        else { throw loneSurrogate(at: start) }
        return scalar
    }

    private mutating func hexadecimal(from start: Int) throws(JSONPathError) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard let digit = reader.current?.hexadecimalValue else {
                throw reader.error("\\u without four hexadecimal digits", at: start, hint: "write it like \\u00E9")
            }
            value = value << 4 | digit
            reader.advance()
        }
        return value
    }

    private func loneSurrogate(at start: Int) -> JSONPathError {
        reader.error(
            "half of a surrogate pair", at: start,
            hint: "a character beyond U+FFFF needs two escapes, like \\uD83D\\uDE00")
    }

    /// A number of a comparison: as in JSON (RFC 9535, section 2.3.5.1).
    mutating func number() throws(JSONPathError) -> JSON {
        let start = reader.offset
        _ = reader.take("-")
        let digits = reader.takeText(while: \.isDigit)
        if digits.isEmpty { throw reader.unexpected("a digit", hint: "numbers look like -1, 0.5 or 1e3") }
        if digits.utf8.first == UInt8(ascii: "0"), digits.utf8.count > 1 {
            throw reader.error("a number with a leading zero", at: start, hint: "remove the zero")
        }
        if reader.take(".") { try fraction() }
        if reader.take("e") || reader.take("E") {
            if !reader.take("-") { _ = reader.take("+") }
            try fraction()
        }
        return .number(JSONNumber(literal: reader.text(from: start)))
    }

    private mutating func fraction() throws(JSONPathError) {
        if reader.takeText(while: \.isDigit).isEmpty {
            throw reader.unexpected("a digit", hint: "numbers look like -1, 0.5 or 1e3")
        }
    }

    /// The value of `true`, `false` or `null`; nil for every other word.
    static func value(of word: String) -> JSON? {
        switch word {
        case "true": .bool(true)
        case "false": .bool(false)
        case "null": .null
        default: nil
        }
    }
}
