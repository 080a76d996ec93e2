/// The difference of two texts, line by line: those that are missing with `-`, those that are new with `+`.
///
/// A line of the first is a ``TextPattern``.
enum LineDifference {
    /// Longer texts are compared without looking for what moved.
    private static let longest = 400

    /// Empty when nothing differs.
    static func lines(from old: [String], to new: [String]) -> [String] {
        let patterns = old.map { TextPattern($0) }
        let start = zip(patterns, new).prefix { $0.matches($1) }.count
        let (oldRest, newRest) = (old.count - start, new.count - start)
        let tail = (0..<min(oldRest, newRest)).prefix {
            patterns[old.count - 1 - $0].matches(new[new.count - 1 - $0])
        }.count
        let (olds, news) = (Array(start..<old.count - tail), Array(start..<new.count - tail))
        guard olds.count <= longest, news.count <= longest else {
            return olds.map { "- \(old[$0])" } + news.map { "+ \(new[$0])" }
        }
        return walk(olds.map { patterns[$0].matches }, olds.map { old[$0] }, news.map { new[$0] })
    }

    /// By the longest common subsequence.
    private static func walk(_ matches: [(String) -> Bool], _ old: [String], _ new: [String]) -> [String] {
        let same = matches.map { matches in new.map { matches($0) } }
        var lengths = Array(repeating: Array(repeating: 0, count: new.count + 1), count: old.count + 1)
        for row in old.indices.reversed() {
            for column in new.indices.reversed() {
                lengths[row][column] =
                    same[row][column]
                    ? lengths[row + 1][column + 1] + 1 : max(lengths[row + 1][column], lengths[row][column + 1])
            }
        }
        var (row, column) = (0, 0)
        var result: [String] = []
        while row < old.count || column < new.count {
            if row < old.count, column < new.count, same[row][column] {
                (row, column) = (row + 1, column + 1)
            } else if row < old.count, column == new.count || lengths[row + 1][column] >= lengths[row][column + 1] {
                result.append("- \(old[row])")
                row += 1
            } else {
                result.append("+ \(new[column])")
                column += 1
            }
        }
        return result
    }
}
