/// A set of Unicode scalars: ranges and general categories, together or all but them.
struct RegexScalarSet: Sendable {
    private var ranges: [ClosedRange<UInt32>] = []
    private var categories: UInt32 = 0
    private var isNegated = false
    private var ignoresCase = false
    /// The answers for ASCII, made by ``seal(negated:ignoringCase:)``.
    private var low: UInt64 = 0
    private var high: UInt64 = 0

    mutating func insert(_ scalar: Unicode.Scalar) { ranges.append(scalar.value...scalar.value) }
    mutating func insert(_ range: ClosedRange<UInt32>) { ranges.append(range) }
    mutating func insert(_ ranges: [ClosedRange<UInt32>]) { self.ranges += ranges }
    mutating func insert(categories: UInt32) { self.categories |= categories }

    /// Ends the building: sorts and merges the ranges. Nothing may be inserted afterwards.
    mutating func seal(negated: Bool = false, ignoringCase: Bool = false) {
        isNegated = negated
        ignoresCase = ignoringCase
        ranges = Self.merged(ranges)
        for value in 0..<UInt32(128) where computesContains(Unicode.Scalar(value)!) {
            if value < 64 { low |= 1 << UInt64(value) } else { high |= 1 << UInt64(value - 64) }
        }
    }

    @inline(__always)
    func contains(_ scalar: Unicode.Scalar) -> Bool {
        let value = scalar.value
        if value < 64 { return low >> UInt64(value) & 1 == 1 }
        if value < 128 { return high >> UInt64(value - 64) & 1 == 1 }
        return computesContains(scalar)
    }

    private func computesContains(_ scalar: Unicode.Scalar) -> Bool {
        var isMember = has(scalar)
        if !isMember, ignoresCase {
            isMember = scalar.simpleLowercase.map(has) == true || scalar.simpleUppercase.map(has) == true
        }
        return isMember != isNegated
    }

    private func has(_ scalar: Unicode.Scalar) -> Bool {
        var low = 0
        var high = ranges.count
        while low < high {
            let middle = (low + high) / 2
            if ranges[middle].upperBound < scalar.value { low = middle + 1 } else { high = middle }
        }
        if low < ranges.count, ranges[low].lowerBound <= scalar.value { return true }
        return categories != 0 && categories & scalar.properties.generalCategory.bit != 0
    }

    private static func merged(_ ranges: [ClosedRange<UInt32>]) -> [ClosedRange<UInt32>] {
        var merged: [ClosedRange<UInt32>] = []
        for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if let last = merged.last, range.lowerBound <= last.upperBound + 1 {
                merged[merged.count - 1] = last.lowerBound...max(last.upperBound, range.upperBound)
            } else {
                merged.append(range)
            }
        }
        return merged
    }

    /// All scalars that are in none of the ranges.
    static func complement(of ranges: [ClosedRange<UInt32>]) -> [ClosedRange<UInt32>] {
        var result: [ClosedRange<UInt32>] = []
        var next: UInt32 = 0
        for range in merged(ranges) {
            if range.lowerBound > next { result.append(next...(range.lowerBound - 1)) }
            next = range.upperBound + 1
        }
        if next <= 0x10FFFF { result.append(next...0x10FFFF) }
        return result
    }
}

extension RegexScalarSet {
    /// Everything but the given scalars: what `.` stands for.
    static func all(but scalars: [Unicode.Scalar]) -> RegexScalarSet {
        var set = RegexScalarSet()
        for scalar in scalars { set.insert(scalar) }
        set.seal(negated: true)
        return set
    }

    /// `\d`, as in ECMAScript: ASCII digits.
    static let digits: [ClosedRange<UInt32>] = [0x30...0x39]
    /// `\w`, as in ECMAScript: ASCII letters, digits and `_`.
    static let wordScalars: [ClosedRange<UInt32>] = [0x30...0x39, 0x41...0x5A, 0x5F...0x5F, 0x61...0x7A]
    /// `\s`, as in ECMAScript: white space of all Unicode and line ends.
    static let whitespace: [ClosedRange<UInt32>] = [
        0x09...0x0D, 0x20...0x20, 0xA0...0xA0, 0x1680...0x1680, 0x2000...0x200A, 0x2028...0x2029, 0x202F...0x202F,
        0x205F...0x205F, 0x3000...0x3000, 0xFEFF...0xFEFF,
    ]
}

extension Unicode.Scalar {
    /// The lower-case form, when it is one scalar.
    var simpleLowercase: Unicode.Scalar? { Self.single(properties.lowercaseMapping) }
    /// The upper-case form, when it is one scalar.
    var simpleUppercase: Unicode.Scalar? { Self.single(properties.uppercaseMapping) }

    /// One form for all cases of a letter.
    var folded: Unicode.Scalar {
        if value < 0x80 { return (0x41...0x5A).contains(value) ? Unicode.Scalar(value | 0x20)! : self }
        let upper = simpleUppercase ?? self
        return upper.simpleLowercase ?? upper
    }

    private static func single(_ text: String) -> Unicode.Scalar? {
        let scalars = text.unicodeScalars
        return scalars.count == 1 ? scalars.first : nil
    }
}
