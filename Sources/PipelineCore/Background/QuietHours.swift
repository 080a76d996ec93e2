/// Hours of each day in which a person wants quiet, in local time; they may go over midnight.
package struct QuietHours: Sendable, Hashable {
    /// Minutes since midnight.
    package let from: Int
    package let until: Int

    package init(from: Int, until: Int) {
        self.from = from
        self.until = until
    }

    /// Reads `22:00-07:00`.
    package static func parse(_ text: String) throws(ValueSyntaxError) -> QuietHours {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false).map { minute($0) }
        guard parts.count == 2, let from = parts[0], let until = parts[1], from != until else {
            throw ValueSyntaxError("\"\(text)\" are no quiet hours", hint: "write them as in \"22:00-07:00\"")
        }
        return QuietHours(from: from, until: until)
    }

    private static func minute(_ text: Substring) -> Int? {
        let parts = text.trimming(while: { $0 == " " }).split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ !$0.isEmpty && $0.count <= 2 && $0.allSatisfy(\.isNumber) }),
            let hour = Int(parts[0]), let minute = Int(parts[1]), hour < 24, minute < 60
        else { return nil }
        return hour * 60 + minute
    }

    /// Minutes until they end, from a minute of the day; nil outside of them.
    package func minutesLeft(at minute: Int) -> Int? {
        let length = (until - from + 1440) % 1440
        let passed = (minute - from + 1440) % 1440
        return passed < length ? length - passed : nil
    }

    /// The form that ``parse(_:)`` reads.
    package var text: String { "\(Self.clock(from))-\(Self.clock(until))" }

    private static func clock(_ minute: Int) -> String {
        let (hour, rest) = (minute / 60, minute % 60)
        return (hour < 10 ? "0" : "") + "\(hour):" + (rest < 10 ? "0" : "") + "\(rest)"
    }
}

extension Substring {
    fileprivate func trimming(while isTrimmed: (Character) -> Bool) -> Substring {
        var text = self.drop(while: isTrimmed)
        while let last = text.last, isTrimmed(last) { text.removeLast() }
        return text
    }
}
