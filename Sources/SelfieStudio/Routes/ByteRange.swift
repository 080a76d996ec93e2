/// Which part of a representation a `Range` field asks for: RFC 9110 §14.
enum ByteRange: Equatable, Sendable {
    /// No range, several, another unit, or one that can't be read: the field is ignored (§14.2).
    case whole
    case part(Range<Int>)
    case unsatisfiable

    /// - Parameters:
    ///   - field: the value of `Range`.
    ///   - size: the bytes of the whole representation.
    init(_ field: String?, size: Int) {
        self = field.flatMap { Self.single($0, size: size) } ?? .whole
    }

    private static func single(_ field: String, size: Int) -> ByteRange? {
        let parts = field.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].lowercased() == "bytes" else { return nil }
        let spec = parts[1].trimmingSpaces.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        guard spec.count == 2 else { return nil }
        if spec[0].isEmpty {
            guard let length = number(spec[1]) else { return nil }
            return length == 0 || size == 0 ? .unsatisfiable : .part(max(0, size - length)..<size)
        }
        guard let first = number(spec[0]) else { return nil }
        guard !spec[1].isEmpty else { return first < size ? .part(first..<size) : .unsatisfiable }
        guard let last = number(spec[1]), first <= last else { return nil }
        return first < size ? .part(first..<(min(last, size - 1) + 1)) : .unsatisfiable
    }

    /// Digits only; a number too large for Int is as good as the largest.
    private static func number(_ text: Substring) -> Int? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
        return Int(text) ?? Int.max - 1
    }
}

extension Substring {
    /// Without the spaces and tabs around it: OWS of RFC 9110 §5.6.3.
    var trimmingSpaces: Substring {
        var text = self
        while let first = text.first, first == " " || first == "\t" { text.removeFirst() }
        while let last = text.last, last == " " || last == "\t" { text.removeLast() }
        return text
    }
}
