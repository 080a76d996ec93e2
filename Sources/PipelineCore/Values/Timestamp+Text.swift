extension Timestamp: CustomStringConvertible {
    /// The moment in RFC 3339 with milliseconds, in UTC: `2026-11-20T12:00:00.123Z`.
    ///
    /// RFC 3339 has four digits for the year: what is outside the years 0 to 9999 shows as the nearest end.
    public var description: String {
        let clamped = min(max(milliseconds, -62_167_219_200_000), 253_402_300_799_999)
        let days = (clamped >= 0 ? clamped : clamped - 86_399_999) / 86_400_000
        let rest = Int(clamped - days * 86_400_000)
        let date = CivilDate(daysSince1970: Int(days))
        let seconds = rest / 1000
        return "\(padded(date.year, 4))-\(padded(date.month, 2))-\(padded(date.day, 2))T"
            + "\(padded(seconds / 3600, 2)):\(padded(seconds / 60 % 60, 2)):\(padded(seconds % 60, 2))."
            + "\(padded(rest % 1000, 3))Z"
    }

    private func padded(_ number: Int, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
    }
}

extension Timestamp {
    /// Reads RFC 3339 (section 5.6) with any offset and any fraction, cut to milliseconds.
    ///
    /// `t`, `z` and a space for the `T` are accepted, as its note allows; a leap second counts as the next second.
    public static func parse(_ text: String) throws(ValueSyntaxError) -> Timestamp {
        var reader = DigitReader(text)
        guard let time = reader.dateTime(), reader.isAtEnd else {
            throw ValueSyntaxError(
                "\"\(text)\" is no time",
                hint: "times look like \"2026-11-20T12:00:00Z\" or \"2026-11-20T13:00:00+01:00\"")
        }
        return time
    }

    /// Reads an HTTP date (RFC 9110, section 5.6.7): IMF-fixdate and the two obsolete forms that recipients must
    /// accept. Nil when the text is none of them.
    ///
    /// RFC 850's two-digit years are those from 1970 to 2069.
    public static func httpDate(_ text: String) -> Timestamp? {
        let words = text.split(separator: " ", omittingEmptySubsequences: true)
        switch words.count {
        case 6 where words[5] == "GMT":
            return moment(day: words[1], month: words[2], year: words[3], time: words[4])
        case 4 where words[3] == "GMT":
            let date = words[1].split(separator: "-", omittingEmptySubsequences: false)
            guard date.count == 3, date[2].utf8.count == 2, let short = Int(date[2]) else { return nil }
            let year = String(short + (short < 70 ? 2000 : 1900))
            return moment(day: date[0], month: date[1], year: year, time: words[2])
        case 5: return moment(day: words[2], month: words[1], year: words[4], time: words[3])
        default: return nil
        }
    }

    /// The moment as an IMF-fixdate, in whole seconds: `Fri, 20 Nov 2026 12:00:00 GMT`.
    public var httpDate: String {
        let text = Array(description.utf8)
        func digits(_ range: Range<Int>) -> String { String(decoding: text[range], as: UTF8.self) }
        let month = Int(digits(5..<7)) ?? 1
        let date = CivilDate(year: Int(digits(0..<4)) ?? 0, month: month, day: Int(digits(8..<10)) ?? 1)
        let weekday = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"][date?.weekday ?? 0]
        return "\(weekday), \(digits(8..<10)) \(Self.months[month - 1]) \(digits(0..<4)) \(digits(11..<19)) GMT"
    }

    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    private static func moment(
        day: some StringProtocol, month: some StringProtocol, year: some StringProtocol, time: some StringProtocol
    ) -> Timestamp? {
        guard let month = months.firstIndex(of: String(month)), let day = Int(day), year.utf8.count == 4,
            let year = Int(year), let date = CivilDate(year: year, month: month + 1, day: day)
        else { return nil }
        var reader = DigitReader(String(time))
        guard let seconds = reader.timeOfDay(), reader.isAtEnd else { return nil }
        return Timestamp(milliseconds: Int64(date.daysSince1970) * 86_400_000 + Int64(seconds) * 1000)
    }
}
