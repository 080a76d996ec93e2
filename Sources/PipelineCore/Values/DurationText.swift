/// Durations as the documents write them: `250ms`, `30s`, `5m`, `1h30m`, `7d`.
///
/// Units are `d h m s ms`, each at most once, the larger before the smaller; numbers are whole. A bare number is an
/// error: nobody can see whether it means seconds or milliseconds.
package enum DurationText {
    static let units: [(name: String, milliseconds: Int64)] = [
        ("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1),
    ]
    /// A hundred years: what is longer is a mistake, and everything below adds up without overflow.
    static let longest: Int64 = 36_525 * 86_400_000

    /// Reads a duration; every error says what to write instead.
    package static func parse(_ text: String) throws(ValueSyntaxError) -> Duration {
        if UnitText.isBareNumber(text) { throw bareNumber(text) }
        guard let parts = UnitText.parts(text) else { throw unreadable(text) }
        var total: Int64 = 0
        var smallest = -1
        for part in parts {
            guard let index = units.firstIndex(where: { $0.name == part.unit }) else {
                throw unknownUnit(String(part.unit), in: text)
            }
            guard index > smallest else {
                throw ValueSyntaxError(
                    "the units of the duration \"\(text)\" are out of order",
                    hint: "write each unit once, the larger first, like \"1h30m\"")
            }
            smallest = index
            total = try sum(total, part.digits, times: units[index].milliseconds, in: text)
        }
        return .milliseconds(total)
    }

    /// The error for a number where a duration belongs; also for a JSON number, which the caller found.
    package static func bareNumber(_ digits: String) -> ValueSyntaxError {
        ValueSyntaxError(
            "a duration needs a unit, and \(digits) has none",
            hint: digits.allSatisfy(\.isNumber)
                ? "say \"\(digits)s\" for \(digits) seconds" : "say \"30s\" for 30 seconds")
    }

    /// The shortest text that ``parse(_:)`` reads back to the same milliseconds, e.g. `1h30m`; `0s` for none.
    /// What is negative gets a leading `-`, which is for messages only.
    package static func describe(_ duration: Duration) -> String {
        let total = duration.wholeMilliseconds
        guard total != 0 else { return "0s" }
        var rest = total.magnitude
        var text = total < 0 ? "-" : ""
        for unit in units {
            let size = UInt64(unit.milliseconds)
            if rest >= size { text += "\(rest / size)\(unit.name)" }
            rest %= size
        }
        return text
    }

    /// A length of time as ``rounded(_:)`` writes it, but in milliseconds where it is below a second: `0.4 ms`, `35 ms`.
    package static func fine(_ seconds: Double) -> String {
        let tenths = (seconds * 10_000).rounded()
        guard tenths > 0, tenths < 9995 else { return rounded(seconds) }
        let isWhole = tenths >= 100 || tenths.truncatingRemainder(dividingBy: 10) == 0
        return isWhole ? "\(Int((tenths / 10).rounded())) ms" : "\(tenths / 10) ms"
    }

    /// A length of time for people, in the one unit that suits it: `2.5 s`, `40 s`, `100 min`, `36 h`, `4 d`.
    package static func rounded(_ seconds: Double) -> String {
        switch seconds {
        case ..<10: "\((seconds * 10).rounded() / 10) s"
        case ..<120: "\(Int(seconds.rounded())) s"
        case ..<7200: "\(Int((seconds / 60).rounded())) min"
        case ..<172_800: "\(Int((seconds / 3600).rounded())) h"
        default: "\(Int((min(1e15, seconds) / 86_400).rounded())) d"
        }
    }
}

extension DurationText {
    private static func sum(
        _ total: Int64, _ digits: Substring, times unit: Int64, in text: String
    ) throws(ValueSyntaxError) -> Int64 {
        guard let count = Int64(digits) else { throw tooLong(text) }
        let (product, overflow) = count.multipliedReportingOverflow(by: unit)
        guard !overflow, product <= longest, total + product <= longest else { throw tooLong(text) }
        return total + product
    }

    private static func tooLong(_ text: String) -> ValueSyntaxError {
        ValueSyntaxError("the duration \"\(text)\" is longer than 100 years", hint: "leave the key out for no limit")
    }

    private static func unknownUnit(_ unit: String, in text: String) -> ValueSyntaxError {
        let lowered = unit.lowercased()
        let meant = units.first { $0.name == lowered }?.name ?? spelledOut(unit)
        let rest = meant.map { "did you mean \"\($0)\"? The" } ?? "the"
        return ValueSyntaxError(
            "\"\(unit)\" in the duration \"\(text)\" is no unit of time", hint: "\(rest) units are d, h, m, s and ms")
    }

    private static func spelledOut(_ unit: String) -> String? {
        let words = [("mil", "ms"), ("day", "d"), ("hour", "h"), ("hr", "h"), ("min", "m"), ("sec", "s")]
        return words.first { unit.lowercased().hasPrefix($0.0) }?.1
    }

    /// Returns what a text such as `5 minutes` or `1 h 30 min` means, as it is written here.
    private static func meant(by text: String) -> String? {
        let words = text.lowercased().replacing(" and ", with: " ").filter { $0 != " " && $0 != "," }
        guard let parts = UnitText.parts(words) else { return nil }
        var written = ""
        for part in parts {
            let unit = units.first { $0.name == part.unit }?.name ?? spelledOut(String(part.unit))
            guard let unit else { return nil }
            written += "\(part.digits)\(unit)"
        }
        return (try? parse(written)) == nil ? nil : written
    }

    private static func unreadable(_ text: String) -> ValueSyntaxError {
        let fraction = text.contains(".") ? "; there are no fractions: say \"1500ms\" for one and a half seconds" : ""
        if let meant = meant(by: text) {
            return ValueSyntaxError("\"\(text)\" is no duration", hint: "write \"\(meant)\"")
        }
        return ValueSyntaxError(
            "\"\(text)\" is no duration",
            hint: "durations look like \"250ms\", \"30s\", \"5m\", \"1h30m\", \"7d\"\(fraction)")
    }
}
