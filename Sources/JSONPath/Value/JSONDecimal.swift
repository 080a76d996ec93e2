/// The exact value of a number's literal: `0.d₁d₂d₃… × 10^exponent`, without leading or trailing zeros.
///
/// Two literals have the same value exactly when these are equal, so numbers of any length compare without loss.
struct JSONDecimal: Hashable {
    let isNegative: Bool
    /// The significant digits as ASCII; empty for zero.
    let digits: [UInt8]
    let exponent: Int

    /// Exponents beyond this are taken as this: such numbers have no use but to be larger or smaller than others.
    private static let largestExponent = 1_000_000_000_000

    /// Nil when the text is not a JSON number.
    init?(_ literal: String) {
        var scan = Scan()
        for byte in literal.utf8 {
            guard scan.take(byte) else { return nil }
        }
        guard scan.sawDigit, let power = scan.power else { return nil }
        while scan.digits.last == UInt8(ascii: "0") { scan.digits.removeLast() }
        digits = scan.digits
        isNegative = scan.isNegative && !digits.isEmpty
        exponent = digits.isEmpty ? 0 : scan.point + power
    }

    /// The value as an integer, when it is one that fits.
    var int: Int? {
        if digits.isEmpty { return 0 }
        guard exponent >= digits.count, exponent <= 19 else { return nil }
        var value = 0
        for place in 0..<exponent {
            let digit = place < digits.count ? Int(digits[place] - UInt8(ascii: "0")) : 0
            let (product, first) = value.multipliedReportingOverflow(by: 10)
            let (sum, second) = product.subtractingReportingOverflow(digit)
            if first || second { return nil }
            value = sum
        }
        if isNegative { return value }
        return value == .min ? nil : -value
    }

    /// The parts of a literal that were read so far.
    private struct Scan {
        var isNegative = false
        var digits: [UInt8] = []
        /// The number of digits that stand before the decimal point, less the zeros that open a fraction.
        var point = 0
        var sawDigit = false
        private var inFraction = false
        private var inExponent = false
        private var exponentIsNegative = false
        private var exponent = 0
        private var sawExponentDigit = false
        private var isFirst = true

        var power: Int? {
            if inExponent && !sawExponentDigit { return nil }
            return exponentIsNegative ? -exponent : exponent
        }

        mutating func take(_ byte: UInt8) -> Bool {
            defer { isFirst = false }
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): inExponent ? takeExponent(byte) : takeDigit(byte)
            case UInt8(ascii: "-") where isFirst: isNegative = true
            case UInt8(ascii: "-") where inExponent && !sawExponentDigit: exponentIsNegative = true
            case UInt8(ascii: "+") where inExponent && !sawExponentDigit: break
            case UInt8(ascii: ".") where sawDigit && !inFraction && !inExponent: inFraction = true
            case UInt8(ascii: "e"), UInt8(ascii: "E"):
                guard sawDigit, !inExponent else { return false }
                inExponent = true
            default: return false
            }
            return true
        }

        private mutating func takeDigit(_ byte: UInt8) {
            sawDigit = true
            let isLeadingZero = digits.isEmpty && byte == UInt8(ascii: "0")
            if !isLeadingZero { digits.append(byte) }
            if inFraction {
                if isLeadingZero { point -= 1 }
            } else if !isLeadingZero {
                point += 1
            }
        }

        private mutating func takeExponent(_ byte: UInt8) {
            sawExponentDigit = true
            exponent = min(exponent * 10 + Int(byte - UInt8(ascii: "0")), JSONDecimal.largestExponent)
        }
    }
}

extension JSONDecimal: Comparable {
    static func < (left: JSONDecimal, right: JSONDecimal) -> Bool {
        if left.sign != right.sign { return left.sign < right.sign }
        return left.isNegative ? right.magnitudePrecedes(left) : left.magnitudePrecedes(right)
    }

    private var sign: Int { digits.isEmpty ? 0 : isNegative ? -1 : 1 }

    private func magnitudePrecedes(_ other: JSONDecimal) -> Bool {
        if exponent != other.exponent { return exponent < other.exponent }
        return digits.lexicographicallyPrecedes(other.digits)
    }
}
