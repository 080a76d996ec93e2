/// The forms in which secrets are looked for, in a table by their bytes: a look costs the same among thousands.
struct SecretPatterns: Sendable {
    struct Pattern: Sendable {
        let bytes: [UInt8]
        let name: String
        /// True if it counts only where no letter or digit touches it.
        var isToken = false
        /// True if the base64 digit before or after it also holds bits of the secret.
        var reachesLeft = false
        var reachesRight = false
    }

    /// Shorter secrets are looked for as tokens only.
    static let shortest = 4
    /// A line of a secret of several lines that is as long is no other text by chance.
    private static let longLine = 16

    /// True if a secret has a space, so that `+` must be read as one.
    private(set) var hasSpace = false
    /// The patterns with that first byte, in the order of their bytes.
    private var byFirst: [[Pattern]] = Array(repeating: [], count: 256)
    /// For each two bytes whether a pattern starts with them: a filter that most places of a text fail at.
    private(set) var pairs: [Bool] = []

    var isEmpty: Bool { pairs.isEmpty }

    init(_ secrets: [(name: String, value: String)]) { add(secrets) }

    /// Adds the forms of more secrets; those that are there stay as they are.
    mutating func add(_ secrets: [(name: String, value: String)]) {
        for (name, value) in secrets where !value.isEmpty {
            let bytes = Array(value.utf8)
            add(bytes, name)
            let trimmed = Self.trimmed(bytes)
            if trimmed.count < bytes.count { add(trimmed, name) }
            for form in Self.respaced(trimmed) { add(form, name) }
        }
    }

    /// The forms of a secret with white space in it that others send back: with other line breaks, on one line, and its
    /// lines each alone.
    private static func respaced(_ secret: [UInt8]) -> [[UInt8]] {
        let words = secret.split { $0 == 0x20 || 0x09...0x0D ~= $0 }
        guard words.count > 1 else { return [] }
        let lines = secret.split { $0 == 0x0A || $0 == 0x0D }
        let breaks: [[UInt8]] = [[0x0A], [0x0D, 0x0A], [0x20], []]
        let whole = [words.joined(separator: [0x20])] + breaks.map { lines.joined(separator: $0) }
        return whole.map { Array($0) } + lines.filter { $0.count >= longLine }.map { Array($0) }
    }

    private mutating func add(_ secret: [UInt8], _ name: String) {
        guard !secret.isEmpty else { return }
        hasSpace = hasSpace || secret.contains(0x20)
        guard secret.count >= Self.shortest else {
            for form in [
                secret, Base64Bytes.digits(of: secret), Base64Bytes.digits(of: secret, alphabet: Base64Bytes.urlSafe),
            ] {
                append(Pattern(bytes: form, name: name, isToken: true))
            }
            return
        }
        append(Pattern(bytes: secret, name: name))
        for upper in [false, true] {
            append(Pattern(bytes: secret.flatMap { Hex.digits(of: $0, upper: upper) }, name: name))
        }
        for alignment in 0..<3 { addBase64(secret, name, alignment) }
    }

    /// The base64 digits that hold nothing but bits of the secret, when so many bytes stand before it in its group.
    private mutating func addBase64(_ secret: [UInt8], _ name: String, _ alignment: Int) {
        let bits = (alignment + secret.count) * 8
        let first = (alignment * 8 + 5) / 6
        for alphabet in [Base64Bytes.standard, Base64Bytes.urlSafe] {
            let digits = Base64Bytes.digits(
                of: [UInt8](repeating: 0, count: alignment) + secret, alphabet: alphabet, padded: false)
            append(
                Pattern(
                    bytes: Array(digits[first..<bits / 6]), name: name, reachesLeft: alignment > 0,
                    reachesRight: bits % 6 != 0))
        }
    }

    private mutating func append(_ pattern: Pattern) {
        let first = Int(pattern.bytes[0])
        let place = byFirst[first].firstPlace { !$0.bytes.lexicographicallyPrecedes(pattern.bytes) }
        let isKnown = byFirst[first][place...].prefix { $0.bytes == pattern.bytes }.contains {
            $0.isToken == pattern.isToken
        }
        if isKnown { return }
        byFirst[first].insert(pattern, at: place)
        if pairs.isEmpty { pairs = Array(repeating: false, count: 65_536) }
        let row = first << 8
        if pattern.bytes.count > 1 {
            pairs[row | Int(pattern.bytes[1])] = true
        } else {
            for second in 0..<256 { pairs[row | second] = true }
        }
    }

    /// Calls `body` with each pattern that stands at a place of a text, the shorter ones first.
    func forEach(at position: Int, in text: UnsafeBufferPointer<UInt8>, _ body: (Pattern) -> Void) {
        byFirst[Int(text[position])].withUnsafeBufferPointer { patterns in
            // Those that begin as the text does, up to a byte more each time.
            var candidates = patterns[...]
            var depth = 1
            while true {
                while let pattern = candidates.first, pattern.bytes.count == depth {
                    body(pattern)
                    candidates = candidates.dropFirst()
                }
                guard !candidates.isEmpty, position + depth < text.count else { return }
                let byte = text[position + depth]
                candidates = candidates[candidates.firstPlace { $0.bytes[depth] >= byte }...]
                candidates = candidates[..<candidates.firstPlace { $0.bytes[depth] > byte }]
                depth += 1
            }
        }
    }

    private static func trimmed(_ bytes: [UInt8]) -> [UInt8] {
        let isSpace: (UInt8) -> Bool = { $0 == 0x20 || (9...13).contains($0) }
        return Array(bytes.drop(while: isSpace).reversed().drop(while: isSpace).reversed())
    }
}

extension RandomAccessCollection where Index == Int {
    /// The first place whose element holds, which all after it do too; the end when none does.
    fileprivate func firstPlace(_ holds: (Element) -> Bool) -> Int {
        var (low, high) = (startIndex, endIndex)
        while low < high {
            let middle = low + (high - low) / 2
            if holds(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
