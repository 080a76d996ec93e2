/// The syntax of I-Regexp (RFC 9485, section 3), and nothing beyond it, with one exception.
///
/// By the grammar `^` and `$` are ordinary characters, but all mappings of section 5 make anchors of them. So at the
/// start of a branch `^`, and at the end of one `$`, are anchors here, elsewhere themselves.
struct InteroperableRegexParser {
    private var reader: RegexReader

    init(_ pattern: String) { reader = RegexReader(pattern) }

    mutating func pattern() throws(LinearRegexError) -> RegexPattern {
        let pattern = try alternatives()
        if !reader.isAtEnd { throw unexpected() }
        return pattern
    }

    private mutating func alternatives() throws(LinearRegexError) -> RegexPattern {
        var branches = [try branch()]
        while reader.take("|") { branches.append(try branch()) }
        return branches.count == 1 ? branches[0] : .alternatives(branches)
    }

    private mutating func branch() throws(LinearRegexError) -> RegexPattern {
        var pieces: [RegexPattern] = []
        while let scalar = reader.current, scalar != "|", scalar != ")" {
            if let anchor = anchor(isFirst: pieces.isEmpty) {
                reader.advance()
                pieces.append(.assertion(anchor))
            } else {
                pieces.append(try quantified(try atom()))
            }
        }
        return .sequence(pieces)
    }

    private func anchor(isFirst: Bool) -> RegexAssertion? {
        let after = reader.peek(1)
        if reader.current == "^", isFirst {
            return after.map { "*+?{".unicodeScalars.contains($0) } == true ? nil : .textStart
        }
        return reader.current == "$" && (after == nil || after == "|" || after == ")") ? .textEnd : nil
    }

    private mutating func atom() throws(LinearRegexError) -> RegexPattern {
        let start = reader.position
        guard let scalar = reader.next() else { throw unexpected() }
        switch scalar {
        case "(":
            try reader.openGroup(at: start)
            let pattern = try alternatives()
            guard reader.take(")") else { throw reader.error("a group without “)”", at: start) }
            reader.closeGroup()
            return pattern
        case ".": return .set(.all(but: ["\n", "\r"]))
        case "[": return .set(try expression(from: start))
        case "\\": return try escape()
        case "*", "+", "?", "{", "}", "]":
            throw reader.error(
                "“\(scalar)” has nothing to stand after", at: start, hint: "write \\\(scalar) for itself")
        default: return .scalar(scalar)
        }
    }

    private mutating func quantified(_ atom: RegexPattern) throws(LinearRegexError) -> RegexPattern {
        let bounds: RegexBounds
        switch reader.current {
        case "*": bounds = RegexBounds(minimum: 0)
        case "+": bounds = RegexBounds(minimum: 1)
        case "?": bounds = RegexBounds(minimum: 0, maximum: 1)
        case "{": return .repetition(atom, try range())
        default: return atom
        }
        reader.advance()
        return .repetition(atom, bounds)
    }

    private mutating func range() throws(LinearRegexError) -> RegexBounds {
        let start = reader.position
        reader.advance()
        guard let minimum = reader.number() else { throw reader.error("a number is missing", at: reader.position) }
        var maximum: Int? = minimum
        if reader.take(",") { maximum = reader.number() }
        guard reader.take("}") else { throw reader.error("“}” is missing", at: reader.position) }
        if let maximum, maximum < minimum { throw reader.error("the bounds are the wrong way round", at: start) }
        return RegexBounds(minimum: minimum, maximum: maximum)
    }

    /// Returns what follows a backslash outside a class.
    private mutating func escape() throws(LinearRegexError) -> RegexPattern {
        if reader.current == "p" || reader.current == "P" {
            var set = RegexScalarSet()
            set.insert(categories: try categories())
            set.seal()
            return .set(set)
        }
        return .scalar(try singleEscape())
    }

    private mutating func categories() throws(LinearRegexError) -> UInt32 {
        let isNegated = reader.next() == "P"
        return try reader.categories(negated: isNegated)
    }

    /// `SingleCharEsc`; the position stands after the backslash.
    private mutating func singleEscape() throws(LinearRegexError) -> Unicode.Scalar {
        let start = reader.position - 1
        switch reader.next() {
        case "n": return "\n"
        case "r": return "\r"
        case "t": return "\t"
        case let scalar? where "()*+-.?[\\]^{|}".unicodeScalars.contains(scalar): return scalar
        default:
            throw reader.error(
                "an escape that I-Regexp (RFC 9485) does not have", at: start, hint: "write [0-9] for \\d, [^ ] for \\S"
            )
        }
    }

    /// `charClassExpr`; the position stands after the bracket.
    private mutating func expression(from start: Int) throws(LinearRegexError) -> RegexScalarSet {
        var set = RegexScalarSet()
        let isNegated = reader.take("^")
        var isFirst = true
        while !(reader.current == "]" && !isFirst) {
            guard let scalar = reader.current else { throw reader.error("a class without “]”", at: start) }
            if scalar == "-" {
                guard isFirst || reader.peek(1) == "]" else { throw unexpected() }
                set.insert("-")
                reader.advance()
            } else {
                try element(into: &set)
            }
            isFirst = false
        }
        reader.advance()
        set.seal(negated: isNegated)
        return set
    }

    private mutating func element(into set: inout RegexScalarSet) throws(LinearRegexError) {
        let start = reader.position
        if reader.current == "\\", reader.peek(1) == "p" || reader.peek(1) == "P" {
            reader.advance()
            return set.insert(categories: try categories())
        }
        let first = try classScalar()
        guard reader.current == "-", reader.peek(1) != "]" else { return set.insert(first) }
        reader.advance()
        let last = try classScalar()
        guard first <= last else { throw reader.error("the range is the wrong way round", at: start) }
        set.insert(first.value...last.value)
    }

    /// `CCchar`: anything but `-`, `[`, `\`, `]`, or an escape.
    private mutating func classScalar() throws(LinearRegexError) -> Unicode.Scalar {
        guard let scalar = reader.current, scalar != "-", scalar != "[", scalar != "]" else { throw unexpected() }
        reader.advance()
        return scalar == "\\" ? try singleEscape() : scalar
    }

    private func unexpected() -> LinearRegexError {
        guard let scalar = reader.current else {
            return reader.error("the pattern ends too early", at: reader.position)
        }
        return reader.error("“\(scalar)” can't stand here", at: reader.position, hint: "write \\\(scalar) for itself")
    }
}
