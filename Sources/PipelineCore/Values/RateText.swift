/// Rates as the documents write them: a size and `/s`, like `500KB/s` or `2MiB/s`, in bytes per second.
package enum RateText {
    /// Reads a rate in bytes per second; zero is an error, as nothing would ever move.
    package static func parse(_ text: String) throws(ValueSyntaxError) -> Int64 {
        let example = "\"500KB/s\", \"2MiB/s\""
        guard text.hasSuffix("/s") else {
            if UnitText.isBareNumber(text) { throw bareNumber(text) }
            let isSize = (try? SizeText.parse(text)) != nil
            throw ValueSyntaxError(
                "\"\(text)\" is no rate", hint: isSize ? "say \"\(text)/s\"" : "rates look like \(example)")
        }
        let bytes = try SizeText.parse(text.dropLast(2), whole: text, kind: "rate", example: example, suffix: "/s")
        guard bytes > 0 else {
            throw ValueSyntaxError("the rate \"\(text)\" lets nothing through", hint: "leave the key out for no limit")
        }
        return bytes
    }

    /// The error for a number where a rate belongs; also for a JSON number, which the caller found.
    package static func bareNumber(_ digits: String) -> ValueSyntaxError {
        SizeText.bareNumber(digits, kind: "rate", suffix: "/s")
    }

    /// A rounded wording for people: `1.2 MiB/s`.
    package static func describe(_ bytesPerSecond: Double) -> String {
        "\(SizeText.describe(Int64(bytesPerSecond)))/s"
    }
}
