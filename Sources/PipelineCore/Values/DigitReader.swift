/// Reads fields of fixed width, as the grammar of RFC 3339 has them.
struct DigitReader {
    private let bytes: [UInt8]
    private var position = 0

    init(_ text: String) { bytes = Array(text.utf8) }

    var isAtEnd: Bool { position == bytes.count }

    /// `date-time` of RFC 3339, section 5.6.
    mutating func dateTime() -> Timestamp? {
        guard let year = number(4), skip("-"), let month = number(2), skip("-"), let day = number(2),
            let date = CivilDate(year: year, month: month, day: day), skip("T") || skip("t") || skip(" "),
            let seconds = timeOfDay(), let fraction = milliseconds(), let offset = offset()
        else { return nil }
        let total = Int64(date.daysSince1970) * 86_400 + Int64(seconds - offset)
        return Timestamp(milliseconds: total * 1000 + Int64(fraction))
    }

    /// Seconds since midnight; 60 is accepted as the seconds of a leap second.
    mutating func timeOfDay() -> Int? {
        guard let hour = number(2), hour < 24, skip(":"), let minute = number(2), minute < 60, skip(":"),
            let second = number(2), second <= 60
        else { return nil }
        return hour * 3600 + minute * 60 + second
    }

    private mutating func milliseconds() -> Int? {
        guard skip(".") else { return 0 }
        var value = 0
        var count = 0
        while position < bytes.count, let digit = digit(bytes[position]) {
            if count < 3 { value = value * 10 + digit }
            count += 1
            position += 1
        }
        guard count > 0 else { return nil }
        return value * [100, 10, 1][min(count, 3) - 1]
    }

    private mutating func offset() -> Int? {
        if skip("Z") || skip("z") { return 0 }
        let sign = skip("+") ? 1 : skip("-") ? -1 : 0
        guard sign != 0, let hours = number(2), hours < 24, skip(":"), let minutes = number(2), minutes < 60 else {
            return nil
        }
        return sign * (hours * 3600 + minutes * 60)
    }

    private mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard position < bytes.count, bytes[position] == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    private mutating func number(_ width: Int) -> Int? {
        guard position + width <= bytes.count else { return nil }
        var value = 0
        for byte in bytes[position..<position + width] {
            guard let digit = digit(byte) else { return nil }
            value = value * 10 + digit
        }
        position += width
        return value
    }

    private func digit(_ byte: UInt8) -> Int? { (48...57).contains(byte) ? Int(byte) - 48 : nil }
}
