/// Hexadecimal digits, as ASCII.
@usableFromInline package enum Hex {
    /// Both digits of a byte.
    package static func digits(of byte: UInt8, upper: Bool = false) -> [UInt8] {
        [digit(byte >> 4, upper: upper), digit(byte & 15, upper: upper)]
    }

    /// The digit of a number below 16.
    @inlinable package static func digit(_ value: UInt8, upper: Bool = false) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: upper ? "A" : "a") + value - 10
    }

    /// The number that a digit stands for; nil for any other byte.
    package static func value(of digit: UInt8) -> UInt8? {
        switch digit {
        case 0x30...0x39: digit - 0x30
        case 0x41...0x46: digit - 0x41 + 10
        case 0x61...0x66: digit - 0x61 + 10
        default: nil
        }
    }

    /// The bytes that pairs of digits stand for; nil when something else stands among them, or one is left over.
    package static func bytes(_ digits: some Sequence<UInt8>) -> [UInt8]? {
        var bytes: [UInt8] = []
        var high: UInt8?
        for digit in digits {
            guard let value = value(of: digit) else { return nil }
            if let first = high {
                bytes.append(first << 4 | value)
                high = nil
            } else {
                high = value
            }
        }
        return high == nil ? bytes : nil
    }
}

extension Sequence<UInt8> {
    /// Two lower-case digits for each byte.
    @inlinable package var hex: String {
        var digits: [UInt8] = []
        digits.reserveCapacity(underestimatedCount * 2)
        for byte in self {
            digits.append(Hex.digit(byte >> 4))
            digits.append(Hex.digit(byte & 15))
        }
        return String(decoding: digits, as: UTF8.self)
    }
}
