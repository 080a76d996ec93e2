/// An amount of money in whole billionths, so that cents add up to what they are: 1.9 and 0.1 make 2, which binary fractions
/// miss.
///
/// Rows and reports keep it as the nearest double, from which the same amount comes back. What is larger than 10^20 is taken
/// for that.
package struct Amount: Sendable, Hashable {
    private let billionths: Int128

    private static let unit: Int128 = 1_000_000_000
    private static let largest = 1e20

    private init(billionths: Int128) { self.billionths = billionths }

    /// The amount that a number's shortest digits say, to the nearest billionth; none for what is no number.
    package init(_ value: Double) {
        let magnitude = value.isNaN ? 0 : min(value.magnitude, Self.largest)
        // As in `1.9` and `1.5e-07`.
        let parts = magnitude.description.split(separator: "e")
        let mantissa = parts[0].split(separator: ".", omittingEmptySubsequences: false)
        let fraction = mantissa.count > 1 ? mantissa[1] : ""
        let digits = Int128(mantissa[0] + fraction) ?? 0
        let power = (parts.count > 1 ? Int(parts[1]) ?? 0 : 0) - fraction.count + 9
        let whole = power < 0 ? Self.divide(digits, by: -power) : digits * Self.powerOfTen(power)
        billionths = value < 0 ? -whole : whole
    }

    private static func powerOfTen(_ power: Int) -> Int128 {
        var value: Int128 = 1
        for _ in 0..<power { value *= 10 }
        return value
    }

    /// Divides by a power of ten and rounds to the nearest; the 17 digits of a double are none beyond twenty places.
    private static func divide(_ digits: Int128, by power: Int) -> Int128 {
        if power > 20 { return 0 }
        let divisor = powerOfTen(power)
        return (digits + divisor / 2) / divisor
    }

    /// The nearest double.
    package var double: Double {
        let fraction = String(billionths.magnitude % Self.unit.magnitude)
        let zeros = String(repeating: "0", count: 9 - fraction.count)
        let text = "\(billionths.magnitude / Self.unit.magnitude).\(zeros)\(fraction)"
        return (billionths < 0 ? -1 : 1) * (Double(text) ?? .nan)
    }

    /// How many more things the amount pays for, if so many have cost `total`, and each further one costs as much as they did
    /// on the average.
    package func count(ofThoseLike sample: Int, costing total: Amount) -> Int {
        guard billionths > 0, total.billionths > 0 else { return 0 }
        return Int(clamping: billionths * Int128(sample) / total.billionths)
    }
}

extension Amount {
    package static func + (left: Amount, right: Amount) -> Amount {
        Amount(billionths: left.billionths + right.billionths)
    }

    package static func - (left: Amount, right: Amount) -> Amount {
        Amount(billionths: left.billionths - right.billionths)
    }
}
