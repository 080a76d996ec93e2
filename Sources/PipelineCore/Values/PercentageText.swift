/// Percentages as the documents write them: `10%`, `2.5%`, as a fraction of one.
package enum PercentageText {
    /// Reads a percentage; `10%` is 0.1. Above 100 % is allowed, below zero is not.
    package static func parse(_ text: String) throws(ValueSyntaxError) -> Double {
        let digits = text.dropLast()
        guard text.hasSuffix("%"), digits.utf8.count <= 18, isDecimal(digits), let value = Double(digits) else {
            let isNumber = UnitText.isBareNumber(text)
            throw ValueSyntaxError(
                "\"\(text)\" is no percentage", hint: isNumber ? "say \"\(text)%\"" : "percentages look like \"10%\"")
        }
        return value / 100
    }

    private static func isDecimal(_ text: Substring) -> Bool {
        let halves = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        return halves.allSatisfy { half in !half.isEmpty && half.allSatisfy { ("0"..."9").contains($0) } }
    }

    /// A rounded wording for people: `13 %`.
    package static func describe(_ fraction: Double) -> String { "\(Int((fraction * 100).rounded())) %" }
}
