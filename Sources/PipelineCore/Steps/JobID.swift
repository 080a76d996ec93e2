/// The name of one job: 26 lower-case characters of Crockford's base 32 that sort by time.
///
/// The layout is that of a ULID (48 bits of milliseconds since 1970, 80 random bits), written in lower case.
public struct JobID: Sendable, Hashable, Comparable, Codable, CustomStringConvertible {
    /// The 26 characters.
    public let text: String

    /// An id that was written before; nothing is checked, so that a prefix or a damaged row is still shown as it is.
    public init(_ text: String) { self.text = text }

    /// A new id for a job that starts at `time`; the bits come from the caller's source of randomness.
    package init(at time: Timestamp, random: (high: UInt16, low: UInt64)) {
        let alphabet = Array("0123456789abcdefghjkmnpqrstvwxyz".utf8)
        let bits =
            (UInt128(UInt64(max(0, time.milliseconds)) & 0xFFFF_FFFF_FFFF) << 80)
            | (UInt128(random.high) << 64) | UInt128(random.low)
        let characters = (0..<26).map { index in alphabet[Int((bits >> UInt128(5 * (25 - index))) & 31)] }
        text = String(decoding: characters, as: UTF8.self)
    }

    public var description: String { text }
    public static func < (left: JobID, right: JobID) -> Bool { left.text < right.text }

    public init(from decoder: any Decoder) throws { text = try decoder.singleValueContainer().decode(String.self) }
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}
