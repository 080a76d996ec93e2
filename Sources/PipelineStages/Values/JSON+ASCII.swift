import JSONPath

extension JSON {
    /// Compact JSON in which every character beyond ASCII is escaped (RFC 8259, section 7), surrogate pairs for those
    /// beyond U+FFFF: for places such as headers that take nothing else.
    var asciiText: String {
        var result = ""
        for scalar in text.unicodeScalars {
            if scalar.value < 0x7F {
                result.unicodeScalars.append(scalar)
            } else {
                for unit in String(scalar).utf16 {
                    let digits = String(unit, radix: 16)
                    result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
                }
            }
        }
        return result
    }
}
