/// Base64 of bytes (RFC 4648, sections 4 and 5), without Foundation.
enum Base64Text {
    static let standard = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    static let urlSafe = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    /// The digits with their padding.
    static func encode(_ bytes: some Collection<UInt8>, alphabet: [UInt8] = standard, padded: Bool = true) -> [UInt8] {
        var digits: [UInt8] = []
        digits.reserveCapacity((bytes.count + 2) / 3 * 4)
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
}
