extension Sequence<UInt8> {
    /// Two lower-case digits for each byte.
    package var hex: String {
        var digits: [UInt8] = []
        digits.reserveCapacity(underestimatedCount * 2)
        for byte in self {
            digits.append(PercentEncoding.digit(byte >> 4))
            digits.append(PercentEncoding.digit(byte & 15))
        }
        return String(decoding: digits, as: UTF8.self)
    }
}
