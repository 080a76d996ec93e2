/// Sizes as the documents write them: `64KiB`, `8MiB`, `1GB`, in bytes.
///
/// `B KB MB GB TB` are powers of 1000, `KiB MiB GiB TiB` of 1024, in just this spelling: `Mb` could mean bits.
package enum SizeText {
    static let units: [(name: String, bytes: Int64)] = [
        ("B", 1), ("KB", 1000), ("MB", 1_000_000), ("GB", 1_000_000_000), ("TB", 1_000_000_000_000),
        ("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30), ("TiB", 1 << 40),
    ]

    /// Reads a size in bytes; every error says what to write instead.
    package static func parse(_ text: String) throws(ValueSyntaxError) -> Int64 {
        try parse(text, whole: text, kind: "size", example: "\"64KiB\", \"8MiB\", \"1GB\"", suffix: "")
    }

    /// The error for a number where a size belongs; also for a JSON number, which the caller found.
    package static func bareNumber(_ digits: String) -> ValueSyntaxError {
        bareNumber(digits, kind: "size", suffix: "")
    }

    /// A rounded wording for messages, in powers of 1024: `512 B`, `8.0 MiB`, `1.5 GiB`.
    package static func describe(_ bytes: Int64) -> String {
        guard bytes.magnitude >= 1024 else { return "\(bytes) B" }
        let scales: [(String, Double)] = [("TiB", 0x1p40), ("GiB", 0x1p30), ("MiB", 0x1p20), ("KiB", 0x1p10)]
        // 1023.96 KiB would print as 1024.0 KiB: the next unit is taken from where rounding reaches it.
        let scale = scales.first { Double(bytes.magnitude) >= $0.1 * 0.99995 } ?? scales[3]
        return "\(UnitText.oneDecimal(Double(bytes) / scale.1)) \(scale.0)"
    }

    /// The shortest text that ``parse(_:)`` reads back to exactly that many bytes, e.g. `8MiB`, `1GB`, `1001B`.
    package static func exact(_ bytes: Int64) -> String {
        let fitting = units.filter { bytes != 0 && bytes % $0.bytes == 0 }.max { $0.bytes < $1.bytes } ?? units[0]
        return "\(bytes / fitting.bytes)\(fitting.name)"
    }

    static func parse(
        _ text: some StringProtocol, whole: String, kind: String, example: String, suffix: String
    ) throws(ValueSyntaxError) -> Int64 {
        if UnitText.isBareNumber(text) { throw bareNumber(String(text), kind: kind, suffix: suffix) }
        guard let parts = UnitText.parts(text), parts.count == 1 else {
            let fraction = text.contains(".") ? "; there are no fractions: say \"1500MB\(suffix)\" for 1.5 GB" : ""
            throw ValueSyntaxError("\"\(whole)\" is no \(kind)", hint: "\(kind)s look like \(example)\(fraction)")
        }
        guard let unit = units.first(where: { $0.name == parts[0].unit }) else {
            throw unknownUnit(String(parts[0].unit), in: whole, kind: kind)
        }
        let (bytes, overflow) = (Int64(parts[0].digits) ?? .max).multipliedReportingOverflow(by: unit.bytes)
        guard !overflow, bytes < .max else {
            throw ValueSyntaxError(
                "the \(kind) \"\(whole)\" is larger than any file can be", hint: "\(kind)s look like \(example)")
        }
        return bytes
    }

    static func bareNumber(_ digits: String, kind: String, suffix: String) -> ValueSyntaxError {
        let number = digits.allSatisfy(\.isNumber) ? digits : "8"
        if let bytes = Int64(number), bytes >= 1024 {
            return ValueSyntaxError(
                "a \(kind) needs a unit, and \(digits) has none",
                hint: "say \"\(exact(bytes))\(suffix)\" for that many bytes")
        }
        return ValueSyntaxError(
            "a \(kind) needs a unit, and \(digits) has none",
            hint: "say \"\(number)MiB\(suffix)\" or, for bytes, \"\(number)B\(suffix)\"")
    }

    private static func unknownUnit(_ unit: String, in text: String, kind: String) -> ValueSyntaxError {
        let folded = units.first { $0.name.lowercased() == unit.lowercased() }?.name
        let longer = units.first { $0.name.lowercased() == unit.lowercased() + "b" }?.name
        let meant = folded ?? longer ?? Suggestion.nearest(to: unit, among: units.map(\.name))
        let start = meant.map { "did you mean \"\($0)\"? KB" } ?? "KB"
        return ValueSyntaxError(
            "\"\(unit)\" in the \(kind) \"\(text)\" is no unit of size",
            hint: "\(start), MB, GB are powers of 1000, KiB, MiB, GiB of 1024")
    }
}
