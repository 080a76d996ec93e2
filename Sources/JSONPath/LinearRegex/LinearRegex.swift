/// A regular expression whose matching takes time linear in the text, whatever the pattern and whoever wrote the text.
///
/// Two syntaxes: the everyday one, and I-Regexp (RFC 9485), which JSONPath uses. Both work on Unicode scalars and
/// prefer as Perl does: the leftmost match, of those at one place the one whose alternatives come first.
///
/// The everyday syntax: literals; `.` (all but `\n`); classes `[a-z]`, `[^…]`; `\d \w \s` and `\D \W \S` as in
/// ECMAScript (ASCII, but `\s` all of Unicode); `\p{Lu}`; groups `(…)`, `(?<name>…)`, `(?:…)`; `|`; `* + ? {n} {n,}
/// {n,m}`, each lazy with `?`; `^ $ \A \z \b \B`; the switches `(?i)`, `(?m)`, `(?s)` for the rest of a group, or
/// `(?i:…)`; escapes `\n \r \t \f \v \0 \xHH \uHHHH \u{H…}`. No backreferences, lookaround, atomic groups.
public struct LinearRegex: Sendable {
    /// The pattern as it was given.
    public let pattern: String
    /// The names of the capturing groups in their order; nil for a group without one.
    public let groupNames: [String?]
    private let program: RegexProgram

    /// A pattern in the everyday syntax.
    public init(_ pattern: String) throws(LinearRegexError) {
        var parser = PracticalRegexParser(pattern)
        let tree = try parser.pattern()
        self.pattern = pattern
        groupNames = parser.groupNames
        program = try RegexProgram(tree, groupCount: parser.groupNames.count)
    }

    /// A pattern in the syntax of I-Regexp (RFC 9485), which has no capturing groups.
    public init(interoperable pattern: String) throws(LinearRegexError) {
        var parser = InteroperableRegexParser(pattern)
        let tree = try parser.pattern()
        self.pattern = pattern
        groupNames = []
        program = try RegexProgram(tree, groupCount: 0)
    }

    /// One match and what its groups took.
    public struct Match: Sendable, Hashable {
        /// The place where the match stands in the text.
        public let range: Range<String.Index>
        /// The text of the match.
        public let text: String
        /// The text of each capturing group, the first at index 0; nil for one that took no part.
        public let groups: [String?]
        fileprivate let names: [String?]

        /// The text of a named group; nil when there is none of that name or it took no part.
        public subscript(name: String) -> String? {
            names.firstIndex(of: name).flatMap { groups[$0] }
        }
    }

    /// The leftmost match.
    public func firstMatch(in text: String) -> Match? {
        var text = text
        let offsets = text.withUTF8 { bytes -> [Int]? in
            var machine = RegexMachine(program, on: bytes, mode: .search, capturing: true)
            return machine.run() == .match ? machine.matched : nil
        }
        guard let offsets else { return nil }
        let ranges = stride(from: 0, to: offsets.count, by: 2).map { slot -> Range<String.Index>? in
            guard offsets[slot] >= 0, offsets[slot + 1] >= 0 else { return nil }
            let start = text.utf8.index(text.startIndex, offsetBy: offsets[slot])
            return start..<text.utf8.index(start, offsetBy: offsets[slot + 1] - offsets[slot])
        }
        guard let whole = ranges[0] else { return nil }
        let groups = ranges.dropFirst().map { range in range.map { String(text[$0]) } }
        return Match(range: whole, text: String(text[whole]), groups: groups, names: groupNames)
    }

    /// Returns whether the pattern matches somewhere in the text.
    public func isFound(in text: String) -> Bool {
        var budget = Int.max
        return run(on: text, .search, budget: &budget) == .match
    }

    /// Returns whether the pattern matches the text from its start to its end.
    public func matchesWhole(_ text: String) -> Bool {
        var budget = Int.max
        return run(on: text, .whole, budget: &budget) == .match
    }

    /// Matches without captures and takes the steps made from a budget.
    func run(on text: String, _ mode: RegexMachine.Mode, budget: inout Int) -> RegexMachine.Outcome {
        var text = text
        return text.withUTF8 { bytes in
            var machine = RegexMachine(program, on: bytes, mode: mode, capturing: false, budget: budget)
            let outcome = machine.run()
            budget = machine.budget
            return outcome
        }
    }
}

extension LinearRegex: CustomStringConvertible {
    public var description: String { pattern }
}
