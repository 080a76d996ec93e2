/// "Did you mean": the known word that a mistyped one is nearest to.
package enum Suggestion {
    /// The nearest of `words`, or nil when none is near enough to be what was meant.
    ///
    /// Distance is Damerau-Levenshtein's (optimal string alignment) without regard to case. Near enough is one
    /// mistake in words of up to four letters, two up to eight, then a quarter of the length; a word of one letter
    /// matches in case only. Of equally near ones the first wins.
    package static func nearest(to word: String, among words: some Sequence<String>) -> String? {
        let letters = Array(word.lowercased().unicodeScalars.prefix(64))
        var best: (word: String, distance: Int)?
        for candidate in words {
            let other = Array(candidate.lowercased().unicodeScalars.prefix(64))
            let limit = min(limit(letters.count), other.count - 1)
            guard abs(other.count - letters.count) <= limit else { continue }
            let distance = distance(letters, other)
            if distance <= limit, distance < (best?.distance ?? .max) { best = (candidate, distance) }
        }
        return best?.word
    }

    /// Returns the same as the start of a hint: `did you mean "inputs"?`
    package static func hint(for word: String, among words: some Sequence<String>) -> String? {
        nearest(to: word, among: words).map { "did you mean \"\($0)\"?" }
    }

    private static func limit(_ length: Int) -> Int {
        switch length {
        case ...1: 0
        case ...4: 1
        case ...8: 2
        default: length / 4
        }
    }

    private static func distance(_ left: [Unicode.Scalar], _ right: [Unicode.Scalar]) -> Int {
        guard !left.isEmpty, !right.isEmpty else { return max(left.count, right.count) }
        var beforeLast: [Int] = []
        var last = Array(0...right.count)
        for row in 1...left.count {
            var current = [row]
            for column in 1...right.count {
                let changed = left[row - 1] == right[column - 1] ? 0 : 1
                var cost = min(last[column] + 1, current[column - 1] + 1, last[column - 1] + changed)
                if row > 1, column > 1, left[row - 1] == right[column - 2], left[row - 2] == right[column - 1] {
                    cost = min(cost, beforeLast[column - 2] + 1)
                }
                current.append(cost)
            }
            (beforeLast, last) = (last, current)
        }
        return last[right.count]
    }
}
