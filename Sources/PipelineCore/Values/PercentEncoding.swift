/// Percent-encoding of text (RFC 3986, section 2.1), for expressions and for finding secrets; requests are encoded by
/// `PipelineHTTP`.
enum PercentEncoding {
    /// Encodes all but the unreserved characters `A-Z a-z 0-9 - . _ ~` (RFC 3986, section 2.3), with upper-case hex.
    ///
    /// Of a text of nothing but dots these are encoded too: as a segment of a path it would lead out of it (section
    /// 5.2.4).
    static func encode(_ text: String) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count)
        let isDots = text.utf8.allSatisfy { $0 == UInt8(ascii: ".") }
        for byte in text.utf8 {
            if isUnreserved(byte), !isDots {
                bytes.append(byte)
            } else {
                bytes += [UInt8(ascii: "%")] + hex(byte, upper: true)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Encodes as ``encode(_:)`` does, and the dots of a text that is nothing else: as a segment of a path `.` and `..`
    /// would lead out of the place that the author wrote (RFC 3986, section 5.2.4).
    static func encodeSegment(_ text: String) -> String {
        let isDots = !text.isEmpty && text.utf8.allSatisfy { $0 == UInt8(ascii: ".") }
        return isDots ? String(repeating: "%2E", count: text.utf8.count) : encode(text)
    }

    static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E: true
        default: false
        }
    }

    /// Both hex digits of a byte.
    static func hex(_ byte: UInt8, upper: Bool = false) -> [UInt8] {
        [digit(byte >> 4, upper: upper), digit(byte & 15, upper: upper)]
    }

    /// The hex digit of a number below 16.
    static func digit(_ value: UInt8, upper: Bool = false) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: upper ? "A" : "a") + value - 10
    }

    static func hexValue(_ digit: UInt8) -> UInt8? {
        switch digit {
        case 0x30...0x39: digit - 0x30
        case 0x41...0x46: digit - 0x41 + 10
        case 0x61...0x66: digit - 0x61 + 10
        default: nil
        }
    }
}
