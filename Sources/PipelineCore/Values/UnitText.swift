/// The common grammar of durations and sizes: whole numbers, each directly followed by its unit.
struct UnitText {
    /// One number with its unit, e.g. `30` and `s`.
    struct Part: Equatable {
        let digits: Substring
        let unit: Substring
    }

    /// Splits `1h30m` into its parts; nil when the text is anything but digits and letters in turn.
    static func parts(_ text: some StringProtocol) -> [Part]? {
        var parts: [Part] = []
        var rest = Substring(text)
        while !rest.isEmpty {
            let digits = rest.prefix { ("0"..."9").contains($0) }
            rest = rest.dropFirst(digits.count)
            let unit = rest.prefix { $0.isASCII && $0.isLetter }
            rest = rest.dropFirst(unit.count)
            guard !digits.isEmpty, !unit.isEmpty else { return nil }
            parts.append(Part(digits: digits, unit: unit))
        }
        return parts.isEmpty ? nil : parts
    }

    /// Returns whether the text is a number and nothing else: the mistake that deserves a hint of its own.
    static func isBareNumber(_ text: some StringProtocol) -> Bool {
        !text.isEmpty && text.allSatisfy { ("0"..."9").contains($0) || $0 == "." || $0 == "-" }
            && text.contains { ("0"..."9").contains($0) }
    }

    /// `value` with one digit after the point, which is what people compare at a glance.
    static func oneDecimal(_ value: Double) -> String {
        let tenths = (value * 10).rounded()
        guard tenths.magnitude < 1e15 else { return String(value) }
        let whole = Int64(tenths)
        return "\(whole / 10).\(abs(whole % 10))"
    }
}
