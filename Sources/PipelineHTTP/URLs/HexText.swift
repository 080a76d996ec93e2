extension Sequence<UInt8> {
    /// Two lower-case hexadecimal digits for each byte.
    var hexText: String {
        var digits: [UInt8] = []
        digits.reserveCapacity(underestimatedCount * 2)
        for byte in self {
            for value in [byte >> 4, byte & 15] {
                digits.append(value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10)
            }
        }
        return String(decoding: digits, as: UTF8.self)
    }
}
