/// `Content-Range` (RFC 9110, section 14.4), of bytes.
enum ContentRange: Sendable, Hashable {
    /// A part, both ends included; the total is nil when the server does not know it.
    case part(first: Int64, last: Int64, total: Int64?)
    /// Nothing of what was asked for is there; the length of the whole.
    case unsatisfied(total: Int64)

    init?(_ text: String) {
        let words = text.split(separator: " ", omittingEmptySubsequences: true)
        guard words.count == 2, words[0].lowercased() == "bytes" else { return nil }
        let halves = words[1].split(separator: "/", omittingEmptySubsequences: false)
        guard halves.count == 2 else { return nil }
        let total = Self.number(halves[1])
        if halves[0] == "*" {
            guard let total else { return nil }
            self = .unsatisfied(total: total)
            return
        }
        let ends = halves[0].split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let first = Self.number(ends[0]), let last = Self.number(ends[1]), first <= last,
            last < .max,
            total.map({ last < $0 }) ?? (halves[1] == "*")
        else { return nil }
        self = .part(first: first, last: last, total: total)
    }

    private static func number(_ digits: Substring) -> Int64? {
        digits.utf8.allSatisfy { (48...57).contains($0) } ? Int64(digits) : nil
    }
}
