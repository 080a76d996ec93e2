/// Looks for all patterns in a text and in what it decodes to.
enum RedactionSearch {
    /// How many encodings may stand one inside the other.
    private static let deepestEncoding = 2

    static func finds(of patterns: SecretPatterns, in view: RedactionView) -> [RedactionFind] {
        var finds: [RedactionFind] = []
        explore(view, patterns, depth: 0, &finds)
        return finds
    }

    private static func explore(
        _ view: RedactionView, _ patterns: SecretPatterns, depth: Int, _ finds: inout [RedactionFind]
    ) {
        search(view, patterns, &finds)
        guard depth < deepestEncoding else { return }
        let decoded = [
            view.percentDecoded(plusIsSpace: false),
            patterns.hasSpace ? view.percentDecoded(plusIsSpace: true) : nil,
            view.unescaped(),
        ]
        for inner in decoded.compactMap({ $0 }) { explore(inner, patterns, depth: depth + 1, &finds) }
    }

    private static func search(_ view: RedactionView, _ patterns: SecretPatterns, _ finds: inout [RedactionFind]) {
        view.bytes.withUnsafeBufferPointer { bytes in
            // Every place is looked at, also inside of a find: secrets may overlap.
            for position in bytes.indices {
                let second = position + 1 < bytes.count ? bytes[position + 1] : nil
                let candidates = patterns.candidates(bytes[position], second)
                guard let find = longest(patterns, candidates, in: bytes, at: position) else { continue }
                finds.append(RedactionFind(start: view.place(find.start), end: view.place(find.end), name: find.name))
            }
        }
    }

    private static func longest(
        _ patterns: SecretPatterns, _ candidates: [Int], in bytes: UnsafeBufferPointer<UInt8>, at position: Int
    ) -> (start: Int, end: Int, name: String)? {
        var best: (start: Int, end: Int, name: String)?
        for candidate in candidates {
            let pattern = patterns.all[candidate]
            let end = position + pattern.bytes.count
            guard end <= bytes.count, end > best?.end ?? 0, matches(pattern.bytes, bytes, at: position) else { continue }
            if pattern.isToken, touchesWord(bytes, position, end) { continue }
            let left = pattern.reachesLeft && position > 0 && isDigit(bytes[position - 1]) ? 1 : 0
            let right = pattern.reachesRight && end < bytes.count && isDigit(bytes[end]) ? 1 : 0
            best = (position - left, end + right, pattern.name)
        }
        return best
    }

    private static func matches(_ pattern: [UInt8], _ bytes: UnsafeBufferPointer<UInt8>, at position: Int) -> Bool {
        pattern.withUnsafeBufferPointer { wanted in
            for index in 0..<wanted.count where wanted[index] != bytes[position + index] { return false }
            return true
        }
    }

    private static func touchesWord(_ bytes: UnsafeBufferPointer<UInt8>, _ start: Int, _ end: Int) -> Bool {
        start > 0 && isWord(bytes[start - 1]) || end < bytes.count && isWord(bytes[end])
    }

    private static func isWord(_ byte: UInt8) -> Bool { ExpressionLexer.isNamePart(byte) || byte >= 0x80 }

    /// A digit of either base64 alphabet.
    private static func isDigit(_ byte: UInt8) -> Bool {
        ExpressionLexer.isNamePart(byte) || [0x2B, 0x2D, 0x2F].contains(byte)
    }
}
