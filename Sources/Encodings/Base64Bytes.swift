/// Bytes in base64 (RFC 4648, sections 4 and 5), without Foundation.
package enum Base64Bytes {
    /// The usual alphabet.
    package static let standard = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    /// The alphabet for URLs and names of files.
    package static let urlSafe = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    /// The text of bytes, with the usual alphabet and padding.
    package static func encode(_ bytes: some Sequence<UInt8>) -> String {
        String(decoding: digits(of: bytes), as: UTF8.self)
    }

    /// The digits in ASCII.
    package static func digits(
        of bytes: some Sequence<UInt8>, alphabet: [UInt8] = standard, padded: Bool = true
    ) -> [UInt8] {
        var digits: [UInt8] = []
        digits.reserveCapacity((bytes.underestimatedCount + 2) / 3 * 4)
        var group: UInt32 = 0
        var held = 0
        for byte in bytes {
            group = group << 8 | UInt32(byte)
            held += 1
            if held == 3 {
                for shift in [18, 12, 6, 0] as [UInt32] { digits.append(alphabet[Int(group >> shift & 63)]) }
                (group, held) = (0, 0)
            }
        }
        if held > 0 {
            group <<= UInt32(8 * (3 - held))
            for place in 0...held { digits.append(alphabet[Int(group >> UInt32(18 - 6 * place) & 63)]) }
            if padded { digits.append(contentsOf: repeatElement(UInt8(ascii: "="), count: 3 - held)) }
        }
        return digits
    }

    /// The bytes of a text; nil for anything but the digits of either alphabet with at most two `=` at the end.
    package static func decode(_ text: some StringProtocol) -> [UInt8]? {
        let digits = text.utf8.reversed().drop { $0 == UInt8(ascii: "=") }.reversed()
        guard digits.count % 4 != 1, text.utf8.count - digits.count <= 2 else { return nil }
        var bytes: [UInt8] = []
        var bits: UInt32 = 0
        var count = 0
        for digit in digits {
            guard let value = value(of: digit) else { return nil }
            bits = bits << 6 | value
            count += 6
            if count >= 8 {
                count -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
            }
        }
        return bytes
    }

    private static func value(of digit: UInt8) -> UInt32? {
        switch digit {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(digit - 65)
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(digit - 97) + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(digit - 48) + 52
        case UInt8(ascii: "+"), UInt8(ascii: "-"): 62
        case UInt8(ascii: "/"), UInt8(ascii: "_"): 63
        default: nil
        }
    }
}
