/// The everyday syntax of regular expressions, as Perl, RE2 and ECMAScript share it, without what can't be matched in
/// linear time (backreferences, lookaround, atomic groups): that is refused by name.
struct PracticalRegexParser {
    var reader: RegexReader
    /// The name of each capturing group; nil for one that has none.
    private(set) var groupNames: [String?] = []
    private var flags = Flags()

    /// The flags that `(?ims)` switches.
    private struct Flags {
        var ignoresCase = false
        var isMultiline = false
        var dotTakesLineEnds = false
    }

    init(_ pattern: String) { reader = RegexReader(pattern) }

    mutating func pattern() throws(LinearRegexError) -> RegexPattern {
        let pattern = try alternatives()
        if !reader.isAtEnd {
            throw reader.error("a “)” without its “(”", at: reader.position, hint: "write \\) for itself")
        }
        return pattern
    }

    private mutating func alternatives() throws(LinearRegexError) -> RegexPattern {
        let outer = flags
        defer { flags = outer }
        var branches = [try branch()]
        while reader.take("|") { branches.append(try branch()) }
        return branches.count == 1 ? branches[0] : .alternatives(branches)
    }

    private mutating func branch() throws(LinearRegexError) -> RegexPattern {
        var pieces: [RegexPattern] = []
        while let scalar = reader.current, scalar != "|", scalar != ")" {
            guard let atom = try atom() else { continue }
            pieces.append(try quantified(atom))
        }
        return .sequence(pieces)
    }

    /// The next thing that can be repeated; nil after a switch such as `(?i)`, which is nothing to match.
    private mutating func atom() throws(LinearRegexError) -> RegexPattern? {
        let start = reader.position
        guard let scalar = reader.next() else { return nil }
        switch scalar {
        case "(": return try group(from: start)
        case "[": return .set(try bracket(from: start, ignoringCase: flags.ignoresCase))
        case ".": return .set(.all(but: flags.dotTakesLineEnds ? [] : ["\n"]))
        case "^": return .assertion(flags.isMultiline ? .lineStart : .textStart)
        case "$": return .assertion(flags.isMultiline ? .lineEnd : .textEnd)
        case "\\": return try escape(from: start, ignoringCase: flags.ignoresCase)
        case "*", "+", "?":
            throw reader.error("“\(scalar)” has nothing to repeat", at: start, hint: "write \\\(scalar) for itself")
        default: return literal(scalar)
        }
    }

    func literal(_ scalar: Unicode.Scalar) -> RegexPattern {
        flags.ignoresCase ? .foldedScalar(scalar.folded) : .scalar(scalar)
    }

    private mutating func group(from start: Int) throws(LinearRegexError) -> RegexPattern? {
        try reader.openGroup(at: start)
        let outer = flags
        var number: Int?
        if reader.take("?") {
            switch try opening(from: start) {
            case .named(let name):
                groupNames.append(name)
                number = groupNames.count
            case .plain: break
            case .switched: return nil
            }
        } else {
            groupNames.append(nil)
            number = groupNames.count
        }
        let pattern = try alternatives()
        guard reader.take(")") else { throw reader.error("a group without “)”", at: start, hint: "write \\( for “(”") }
        reader.closeGroup()
        flags = outer
        return number.map { .capture(pattern, number: $0) } ?? pattern
    }

    private enum Opening {
        case plain, switched
        case named(String)
    }

    /// Returns what stands between `(?` and the group's content.
    private mutating func opening(from start: Int) throws(LinearRegexError) -> Opening {
        if reader.take(":") { return .plain }
        for (text, name) in Self.refused where reader.take(text) {
            throw reader.error(
                "\(name) are not supported", at: start, hint: "they can't be matched in time linear in the text")
        }
        if reader.take("P<") || reader.take("<") { return .named(try groupName(from: start)) }
        return try switches(from: start)
    }

    private static let refused = [
        ("=", "lookaheads"), ("!", "lookaheads"), ("<=", "lookbehinds"), ("<!", "lookbehinds"),
        (">", "atomic groups"), ("P=", "backreferences"), ("(", "conditionals"), ("R", "recursive patterns"),
        ("|", "branch resets"),
    ]

    private mutating func groupName(from start: Int) throws(LinearRegexError) -> String {
        var name = ""
        while let scalar = reader.current, scalar != ">" {
            guard scalar.isASCII, UInt8(scalar.value).isWordByte else { break }
            name.unicodeScalars.append(scalar)
            reader.advance()
        }
        guard reader.take(">"), !name.isEmpty else {
            throw reader.error("a group's name is letters, digits and “_”", at: start, hint: "write it like (?<name>…)")
        }
        if groupNames.contains(name) { throw reader.error("two groups are named “\(name)”", at: start) }
        return name
    }

    private mutating func switches(from start: Int) throws(LinearRegexError) -> Opening {
        var value = true
        while let scalar = reader.next() {
            switch scalar {
            case "i": flags.ignoresCase = value
            case "m": flags.isMultiline = value
            case "s": flags.dotTakesLineEnds = value
            case "-" where value: value = false
            case ":": return .plain
            case ")":
                reader.closeGroup()
                return .switched
            default:
                throw reader.error(
                    "“(?\(scalar)” is not supported", at: start,
                    hint: "there are (?:…), (?<name>…), (?i), (?m) and (?s)")
            }
        }
        throw reader.error("a group without “)”", at: start)
    }

    private mutating func quantified(_ atom: RegexPattern) throws(LinearRegexError) -> RegexPattern {
        guard var bounds = try bounds() else { return atom }
        let end = reader.position
        if reader.take("?") { bounds.isLazy = true }
        if reader.take("+") {
            throw reader.error(
                "possessive quantifiers are not supported", at: end,
                hint: "matching never backtracks: leave the “+” out")
        }
        if try self.bounds() != nil {
            throw reader.error("two quantifiers for one thing", at: end, hint: "put the first in a group: (?:…)")
        }
        return .repetition(atom, bounds)
    }

    /// A quantifier, when one stands here. A `{` that begins none is itself, as in Perl.
    private mutating func bounds() throws(LinearRegexError) -> RegexBounds? {
        if reader.take("*") { return RegexBounds(minimum: 0) }
        if reader.take("+") { return RegexBounds(minimum: 1) }
        if reader.take("?") { return RegexBounds(minimum: 0, maximum: 1) }
        let start = reader.position
        guard reader.take("{"), let minimum = reader.number() else {
            reader.move(to: start)
            return nil
        }
        var maximum: Int? = minimum
        if reader.take(",") { maximum = reader.number() }
        guard reader.take("}") else {
            reader.move(to: start)
            return nil
        }
        if let maximum, maximum < minimum { throw reader.error("the bounds are the wrong way round", at: start) }
        return RegexBounds(minimum: minimum, maximum: maximum)
    }
}
