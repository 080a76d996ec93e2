extension JSONScanner {
    /// A string; the offset stands on its opening quote and then after the closing one.
    ///
    /// A lone surrogate (`\uD800`) stands for no text that could be written as UTF-8 again: an error, or U+FFFD.
    mutating func string() throws(JSONSyntaxError) -> String {
        let quote = bytes[offset]
        let opening = offset
        offset += 1
        let start = offset
        let isASCII = skipPlain(until: quote)
        guard offset < bytes.count else { throw .unclosedString(from: opening, in: bytes) }
        if bytes[offset] == quote {
            defer { offset += 1 }
            return try text(start..<offset, isASCII: isASCII)
        }
        return try escapedString(from: start, quote: quote)
    }

    /// Goes on to the first quote, backslash, control character or end; says whether all passed was ASCII.
    @inline(__always)
    private mutating func skipPlain(until quote: UInt8) -> Bool {
        var high: UInt64 = 0
        let quotes = UInt64(quote) &* 0x0101_0101_0101_0101
        while bytes.count - offset >= 8 {
            let word = UInt64(
                littleEndian: UnsafeRawPointer(bytes.baseAddress! + offset).loadUnaligned(as: UInt64.self))
            let controls = word &- 0x2020_2020_2020_2020
            let closing = (word ^ quotes) &- 0x0101_0101_0101_0101
            let backslash = (word ^ 0x5C5C_5C5C_5C5C_5C5C) &- 0x0101_0101_0101_0101
            let special = (controls | closing | backslash) & ~word & 0x8080_8080_8080_8080
            if special != 0 {
                let count = special.trailingZeroBitCount / 8
                high |= word & ((1 << UInt64(count * 8)) &- 1)
                offset += count
                return high & 0x8080_8080_8080_8080 == 0
            }
            high |= word
            offset += 8
        }
        return skipLastPlain(until: quote) && high & 0x8080_8080_8080_8080 == 0
    }

    private mutating func skipLastPlain(until quote: UInt8) -> Bool {
        var high: UInt8 = 0
        while offset < bytes.count {
            let byte = bytes[offset]
            if byte == quote || byte == UInt8(ascii: "\\") || byte < 0x20 { break }
            high |= byte
            offset += 1
        }
        return high < 0x80
    }

    @inline(__always)
    private func text(_ range: Range<Int>, isASCII: Bool) throws(JSONSyntaxError) -> String {
        let part = UnsafeBufferPointer(rebasing: bytes[range])
        if isASCII { return String(decoding: part, as: UTF8.self) }
        guard let text = String(validating: part, as: UTF8.self) else { throw .invalidUTF8(in: range, of: bytes) }
        return text
    }

    /// The rest of a string that has an escape or a mistake in it; the offset stands on that.
    private mutating func escapedString(from start: Int, quote: UInt8) throws(JSONSyntaxError) -> String {
        var decoded: [UInt8] = []
        var plain = start
        while offset < bytes.count {
            decoded.append(contentsOf: bytes[plain..<offset])
            switch bytes[offset] {
            case quote:
                if String(validating: bytes[start..<offset], as: UTF8.self) == nil {
                    throw .invalidUTF8(in: start..<offset, of: bytes)
                }
                offset += 1
                return String(decoding: decoded, as: UTF8.self)
            case UInt8(ascii: "\\"): try appendEscape(to: &decoded)
            default: throw .controlCharacter(at: offset, in: bytes, openedAt: start - 1)
            }
            plain = offset
            _ = skipPlain(until: quote)
        }
        throw .unclosedString(from: start - 1, in: bytes)
    }

    private mutating func appendEscape(to decoded: inout [UInt8]) throws(JSONSyntaxError) {
        let start = offset
        guard offset + 1 < bytes.count else { throw .unclosedString(from: start, in: bytes) }
        offset += 2
        switch bytes[start + 1] {
        case UInt8(ascii: "n"): decoded.append(0x0A)
        case UInt8(ascii: "t"): decoded.append(0x09)
        case UInt8(ascii: "r"): decoded.append(0x0D)
        case UInt8(ascii: "b"): decoded.append(0x08)
        case UInt8(ascii: "f"): decoded.append(0x0C)
        case let plain where plain == UInt8(ascii: "\"") || plain == UInt8(ascii: "\\") || plain == UInt8(ascii: "/"):
            decoded.append(plain)
        case UInt8(ascii: "u"):
            let scalar = try unicodeEscape(from: start)
            decoded.append(contentsOf: UTF8.encode(scalar)!)
        default: throw .unknownEscape(at: start)
        }
    }

    /// The scalar of `\uXXXX` or of a surrogate pair; the offset stands after the first `u`.
    private mutating func unicodeEscape(from start: Int) throws(JSONSyntaxError) -> Unicode.Scalar {
        let first = try hexadecimal(from: start)
        if let scalar = Unicode.Scalar(first) { return scalar }
        let end = offset
        if first < 0xDC00, offset + 1 < bytes.count, bytes[offset] == UInt8(ascii: "\\"),
            bytes[offset + 1] == UInt8(ascii: "u")
        {
            offset += 2
            let second = try hexadecimal(from: offset - 2)
            if (0xDC00...0xDFFF).contains(second),
                let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
            {
                return scalar
            }
        }
        guard replacesLoneSurrogates else { throw .loneSurrogate(from: start, to: end) }
        offset = end
        return "\u{FFFD}"
    }

    private mutating func hexadecimal(from start: Int) throws(JSONSyntaxError) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard let digit = current?.hexadecimalValue else { throw .shortUnicodeEscape(from: start, to: offset) }
            value = value << 4 | digit
            offset += 1
        }
        return value
    }
}
