import CLibrary
package import JSONPath
package import PipelineCore

/// Times as people say them, seen from a moment: `in 60 s`, `3 min ago`, `14:05`. Hours and days are those of the machine's
/// time zone.
package struct TimeText {
    package let now: Timestamp

    package init(now: Timestamp) { self.now = now }

    /// Returns how long it is until then, from an hour on with the time of the day, from a day on with the date.
    package func until(_ time: Timestamp) -> String {
        let left = time.seconds(since: now)
        return left < 3600 ? "in \(DurationText.rounded(left))" : "in \(DurationText.rounded(left)) (\(clock(time)))"
    }

    /// Returns how long ago it was.
    package func ago(_ time: Timestamp) -> String { "\(DurationText.rounded(now.seconds(since: time))) ago" }

    /// Returns how long ago it was, and when: `3 min ago (14:05)`.
    package func dated(_ time: Timestamp) -> String { "\(ago(time)) (\(clock(time)))" }

    /// The time of the day, `14:05`; with the date when it is another day's.
    package func clock(_ time: Timestamp) -> String {
        let (then, today) = (Self.local(time), Self.local(now))
        let clock = "\(Self.twoDigits(then.tm_hour)):\(Self.twoDigits(then.tm_min))"
        guard then.tm_year != today.tm_year || then.tm_yday != today.tm_yday else { return clock }
        let date = "\(then.tm_year + 1900)-\(Self.twoDigits(then.tm_mon + 1))-\(Self.twoDigits(then.tm_mday))"
        return "\(date) \(clock)"
    }

    /// The date and the time of the day to the millisecond, `2026-11-22 14:05:01.250`.
    package static func exact(_ time: Timestamp) -> String {
        let then = local(time)
        let date = "\(then.tm_year + 1900)-\(twoDigits(then.tm_mon + 1))-\(twoDigits(then.tm_mday))"
        let clock = [then.tm_hour, then.tm_min, then.tm_sec].map(twoDigits).joined(separator: ":")
        let milliseconds = "\((time.milliseconds % 1000 + 1000) % 1000 + 1000)".dropFirst()
        return "\(date) \(clock).\(milliseconds)"
    }

    private static func local(_ time: Timestamp) -> tm {
        var seconds = time_t(time.milliseconds / 1000)
        var parts = tm()
        localtime_r(&seconds, &parts)
        return parts
    }

    private static func twoDigits(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
}

extension JSON {
    /// The moment that an event's datum says in RFC 3339; nil for anything else.
    package var moment: Timestamp? { string.flatMap { try? Timestamp.parse($0) } }
}
