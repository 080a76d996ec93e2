/// A moment in time, in whole milliseconds since 1970-01-01T00:00:00Z; leap seconds are not counted, as POSIX has it.
///
/// Core never reads a clock: moments come in as arguments. Coded as the integer, so that a journal can sort by it.
public struct Timestamp: Sendable, Hashable {
    /// Milliseconds since the beginning of 1970 in UTC, without leap seconds.
    public let milliseconds: Int64

    /// A time by its milliseconds since the beginning of 1970 in UTC.
    public init(milliseconds: Int64) { self.milliseconds = milliseconds }

    /// 1970-01-01T00:00:00Z.
    public static let epoch = Timestamp(milliseconds: 0)

    /// Adds a duration; what exceeds the range stops at its ends instead of trapping; durations are cut to
    /// milliseconds.
    public static func + (time: Timestamp, duration: Duration) -> Timestamp {
        let (sum, overflow) = time.milliseconds.addingReportingOverflow(duration.wholeMilliseconds)
        guard overflow else { return Timestamp(milliseconds: sum) }
        return Timestamp(milliseconds: duration < .zero ? .min : .max)
    }

    public static func - (time: Timestamp, duration: Duration) -> Timestamp {
        let (difference, overflow) = time.milliseconds.subtractingReportingOverflow(duration.wholeMilliseconds)
        guard overflow else { return Timestamp(milliseconds: difference) }
        return Timestamp(milliseconds: duration < .zero ? .max : .min)
    }

    /// Returns how long after `earlier` this is; negative when it is before.
    public static func - (time: Timestamp, earlier: Timestamp) -> Duration {
        let (difference, overflow) = time.milliseconds.subtractingReportingOverflow(earlier.milliseconds)
        return .milliseconds(overflow ? (time > earlier ? .max : .min) : difference)
    }

    /// Returns how many seconds something lasted that began at `earlier` and ends now. A clock that was set back meanwhile
    /// says an end before the beginning; that counts as no time.
    package func seconds(since earlier: Timestamp) -> Double { max(0, (self - earlier).seconds) }

    public static func += (time: inout Timestamp, duration: Duration) { time = time + duration }
}

extension Timestamp: Comparable {
    public static func < (left: Timestamp, right: Timestamp) -> Bool { left.milliseconds < right.milliseconds }
}

extension Timestamp: Codable {
    public init(from decoder: any Decoder) throws {
        milliseconds = try decoder.singleValueContainer().decode(Int64.self)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(milliseconds)
    }
}
