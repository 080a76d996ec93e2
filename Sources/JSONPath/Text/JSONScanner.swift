/// Reads the tokens of JSON (RFC 8259, sections 2, 6, 7) from contiguous bytes; the parsers stand on it.
///
/// It borrows the bytes: a scanner lives only inside the closure that gave the buffer.
struct JSONScanner {
    let bytes: UnsafeBufferPointer<UInt8>
    var offset = 0
    /// True if half of a surrogate pair is read as U+FFFD instead of being an error.
    let replacesLoneSurrogates: Bool

    init(_ bytes: UnsafeBufferPointer<UInt8>, replacesLoneSurrogates: Bool = false) {
        self.bytes = bytes
        self.replacesLoneSurrogates = replacesLoneSurrogates
        if bytes.count >= 3, bytes[0] == 0xEF, bytes[1] == 0xBB, bytes[2] == 0xBF { offset = 3 }
    }

    /// The mistake of a text in UTF-16, by the mark that editors put before it; nil for any other text.
    var encodingMistake: JSONSyntaxError? {
        guard bytes.count >= 2, bytes[0] >= 0xFE, bytes[1] == (bytes[0] == 0xFE ? 0xFF : 0xFE) else { return nil }
        return JSONSyntaxError("this text is in UTF-16, and JSON is UTF-8", at: 0, length: 2, hint: "save it as UTF-8")
    }

    /// The byte at the offset; nil at the end.
    @inline(__always)
    var current: UInt8? { offset < bytes.count ? bytes[offset] : nil }

    @inline(__always)
    mutating func skipWhitespace() {
        while offset < bytes.count {
            switch bytes[offset] {
            case 0x20, 0x0A, 0x0D, 0x09: offset += 1
            default: return
            }
        }
    }

    /// Returns whether the text goes on with this word, after which no letter or digit may follow; takes it if so.
    @inline(__always)
    mutating func take(_ word: StaticString) -> Bool {
        let length = word.utf8CodeUnitCount
        guard bytes.count - offset >= length else { return false }
        for position in 0..<length where bytes[offset + position] != word.utf8Start[position] { return false }
        if offset + length < bytes.count, bytes[offset + length].isWordByte { return false }
        offset += length
        return true
    }
}

extension JSONScanner {
    /// A number; the offset stands on `-` or a digit.
    mutating func number() throws(JSONSyntaxError) -> JSONNumber {
        let start = offset
        if current == UInt8(ascii: "-") { offset += 1 }
        guard let first = current, first.isDigit else { throw .digitMissing(at: offset, after: "“-”") }
        offset += 1
        if first == UInt8(ascii: "0") {
            if let next = current, next.isDigit { throw .leadingZero(from: start) }
        } else {
            skipDigits()
        }
        if current == UInt8(ascii: ".") {
            offset += 1
            try digits(after: "the decimal point")
        }
        if current == UInt8(ascii: "e") || current == UInt8(ascii: "E") {
            offset += 1
            if current == UInt8(ascii: "+") || current == UInt8(ascii: "-") { offset += 1 }
            try digits(after: "the exponent's “e”")
        }
        if let next = current, next.isWordByte || next == UInt8(ascii: ".") {
            throw .strayAfterNumber(from: start, at: offset)
        }
        return JSONNumber(literal: String(decoding: bytes[start..<offset], as: UTF8.self))
    }

    @inline(__always)
    private mutating func skipDigits() {
        while offset < bytes.count, bytes[offset].isDigit { offset += 1 }
    }

    private mutating func digits(after place: String) throws(JSONSyntaxError) {
        guard let next = current, next.isDigit else { throw .digitMissing(at: offset, after: place) }
        skipDigits()
    }
}

extension UInt8 {
    @inline(__always)
    var isDigit: Bool { self &- 0x30 < 10 }
    /// A letter, a digit or `_`, or a byte beyond ASCII.
    @inline(__always)
    var isWordByte: Bool { isDigit || (self | 0x20) &- 0x61 < 26 || self == 0x5F || self >= 0x80 }
    /// The value of a hexadecimal digit.
    var hexadecimalValue: UInt32? {
        switch self {
        case 0x30...0x39: UInt32(self - 0x30)
        case 0x41...0x46: UInt32(self - 0x37)
        case 0x61...0x66: UInt32(self - 0x57)
        default: nil
        }
    }
}
