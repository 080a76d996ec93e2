/// Looks for all patterns in a text and in what it decodes to.
struct RedactionSearch {
    /// The number of encodings that may stand one inside the other.
    private static let deepestEncoding = 2

    private let patterns: SecretPatterns
    private var finds: [RedactionFind] = []

    static func finds(of patterns: SecretPatterns, in view: RedactionView) -> [RedactionFind] {
        var search = RedactionSearch(patterns)
        search.explore(view, depth: 0, isUnescaped: false)
        return search.finds
    }

    private init(_ patterns: SecretPatterns) { self.patterns = patterns }

    /// Percent-encoding has no backslashes, so there is nothing to gain from decoding it after JSON's escapes.
    private mutating func explore(_ view: RedactionView, depth: Int, isUnescaped: Bool) {
        search(view)
        guard depth < Self.deepestEncoding else { return }
        if let inner = view.unescaped() { explore(inner, depth: depth + 1, isUnescaped: true) }
        guard !isUnescaped else { return }
        if let inner = view.percentDecoded(plusIsSpace: false) { explore(inner, depth: depth + 1, isUnescaped: false) }
        guard patterns.hasSpace, let inner = view.percentDecoded(plusIsSpace: true) else { return }
        explore(inner, depth: depth + 1, isUnescaped: false)
    }

    private mutating func search(_ view: RedactionView) {
        view.bytes.withUnsafeBufferPointer { bytes in
            patterns.pairs.withUnsafeBufferPointer { pairs in
                // Every place is looked at, also inside of a find: secrets may overlap.
                for position in 0..<bytes.count {
                    let second = position + 1 < bytes.count ? Int(bytes[position + 1]) : -1
                    if second >= 0, !pairs[Int(bytes[position]) << 8 | second] { continue }
                    guard let find = longest(in: bytes, at: position) else { continue }
                    finds.append(
                        RedactionFind(start: view.place(find.start), end: view.place(find.end), name: find.name))
                }
            }
        }
    }

    private func longest(
        in bytes: UnsafeBufferPointer<UInt8>, at position: Int
    ) -> (start: Int, end: Int, name: String)? {
        var best: (start: Int, end: Int, name: String)?
        patterns.forEach(at: position, in: bytes) { pattern in
            let end = position + pattern.bytes.count
            guard end > best?.end ?? 0 else { return }
            if pattern.isToken, Self.touchesWord(bytes, position, end) { return }
            let left = pattern.reachesLeft && position > 0 && Self.isDigit(bytes[position - 1]) ? 1 : 0
            let right = pattern.reachesRight && end < bytes.count && Self.isDigit(bytes[end]) ? 1 : 0
            best = (position - left, end + right, pattern.name)
        }
        return best
    }

    private static func touchesWord(_ bytes: UnsafeBufferPointer<UInt8>, _ start: Int, _ end: Int) -> Bool {
        start > 0 && isWord(bytes[start - 1]) || end < bytes.count && isWord(bytes[end])
    }

    private static func isWord(_ byte: UInt8) -> Bool { ExpressionLexer.isNamePart(byte) || byte >= 0x80 }

    /// A digit of either base64 alphabet.
    private static func isDigit(_ byte: UInt8) -> Bool {
        ExpressionLexer.isNamePart(byte) || byte == 0x2B || byte == 0x2D || byte == 0x2F
    }
}
