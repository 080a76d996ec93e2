/// Escapes and classes of the everyday syntax.
extension PracticalRegexParser {
    /// Returns what follows a backslash outside a class; the position stands after it.
    mutating func escape(from start: Int, ignoringCase: Bool) throws(LinearRegexError) -> RegexPattern {
        guard let scalar = reader.current else { throw loneBackslash(at: start) }
        if let assertion = Self.assertion(scalar) {
            reader.advance()
            return .assertion(assertion)
        }
        if (0x31...0x39).contains(scalar.value) || scalar == "k" {
            throw reader.error(
                "backreferences are not supported", at: start, hint: "they can't be matched in time linear in the text")
        }
        var set = RegexScalarSet()
        if try shorthand(into: &set) {
            set.seal(ignoringCase: ignoringCase)
            return .set(set)
        }
        return literal(try scalarEscape(from: start))
    }

    private static func assertion(_ scalar: Unicode.Scalar) -> RegexAssertion? {
        switch scalar {
        case "b": .wordBoundary
        case "B": .noWordBoundary
        case "A": .textStart
        case "z": .textEnd
        default: nil
        }
    }

    /// Takes `d`, `w`, `s`, `p{…}` and their opposites, which stand for sets.
    private mutating func shorthand(into set: inout RegexScalarSet) throws(LinearRegexError) -> Bool {
        switch reader.current {
        case "d": set.insert(RegexScalarSet.digits)
        case "D": set.insert(RegexScalarSet.complement(of: RegexScalarSet.digits))
        case "w": set.insert(RegexScalarSet.wordScalars)
        case "W": set.insert(RegexScalarSet.complement(of: RegexScalarSet.wordScalars))
        case "s": set.insert(RegexScalarSet.whitespace)
        case "S": set.insert(RegexScalarSet.complement(of: RegexScalarSet.whitespace))
        case "p", "P":
            let isNegated = reader.next() == "P"
            set.insert(categories: try reader.categories(negated: isNegated))
            return true
        default: return false
        }
        reader.advance()
        return true
    }

    /// The scalar that an escape stands for.
    private mutating func scalarEscape(from start: Int) throws(LinearRegexError) -> Unicode.Scalar {
        guard let scalar = reader.next() else { throw loneBackslash(at: start) }
        switch scalar {
        case "n": return "\n"
        case "r": return "\r"
        case "t": return "\t"
        case "f": return "\u{0C}"
        case "v": return "\u{0B}"
        case "0": return "\0"
        case "x": return try hexadecimal(digits: 2, from: start)
        case "u": return try hexadecimal(digits: 4, from: start)
        default:
            if scalar.isASCII, UInt8(scalar.value).isWordByte {
                throw reader.error("no escape “\\\(scalar)”", at: start, hint: "write \\\\ for a backslash itself")
            }
            return scalar
        }
    }

    /// `\xHH`, `\uHHHH`, or either with any digits in braces.
    private mutating func hexadecimal(digits: Int, from start: Int) throws(LinearRegexError) -> Unicode.Scalar {
        let isBraced = reader.take("{")
        var value: UInt32 = 0
        var count = 0
        while count < (isBraced ? 8 : digits), let digit = reader.current?.hexadecimalValue {
            value = value << 4 | digit
            count += 1
            reader.advance()
        }
        let isWhole = isBraced ? count > 0 && reader.take("}") : count == digits
        guard isWhole, let scalar = Unicode.Scalar(value) else {
            throw reader.error(
                "hexadecimal digits of a character are expected", at: start, hint: "write it like \\u00E9")
        }
        return scalar
    }

    /// `[…]`; the position stands after the bracket. A `]` that comes first is itself.
    mutating func bracket(from start: Int, ignoringCase: Bool) throws(LinearRegexError) -> RegexScalarSet {
        var set = RegexScalarSet()
        let isNegated = reader.take("^")
        var isFirst = true
        while isFirst || reader.current != "]" {
            guard reader.current != nil else {
                throw reader.error("a class without “]”", at: start, hint: "write \\[ for “[”")
            }
            try element(into: &set)
            isFirst = false
        }
        reader.advance()
        set.seal(negated: isNegated, ignoringCase: ignoringCase)
        return set
    }

    private mutating func element(into set: inout RegexScalarSet) throws(LinearRegexError) {
        let start = reader.position
        if reader.current == "[", reader.peek(1) == ":" {
            throw reader.error("POSIX classes are not supported", at: start, hint: "write a-z, \\d or \\p{L}")
        }
        if try classShorthand(into: &set) { return }
        let first = try classScalar(from: start)
        guard reader.current == "-", let after = reader.peek(1), after != "]" else { return set.insert(first) }
        reader.advance()
        let second = reader.position
        if try classShorthand(into: &set) {
            set.insert(first)
            return set.insert("-")
        }
        let last = try classScalar(from: second)
        guard first <= last else { throw reader.error("the range is the wrong way round", at: start) }
        set.insert(first.value...last.value)
    }

    private mutating func classShorthand(into set: inout RegexScalarSet) throws(LinearRegexError) -> Bool {
        guard reader.current == "\\" else { return false }
        reader.advance()
        if try shorthand(into: &set) { return true }
        reader.move(to: reader.position - 1)
        return false
    }

    private mutating func classScalar(from start: Int) throws(LinearRegexError) -> Unicode.Scalar {
        guard let scalar = reader.next() else { throw reader.error("a class without “]”", at: start) }
        guard scalar == "\\" else { return scalar }
        if reader.current == "b" {
            reader.advance()
            return "\u{08}"
        }
        return try scalarEscape(from: start)
    }

    private func loneBackslash(at start: Int) -> LinearRegexError {
        reader.error("the pattern ends with a backslash", at: start, hint: "write \\\\ for a backslash itself")
    }
}

extension Unicode.Scalar {
    fileprivate var hexadecimalValue: UInt32? { isASCII ? UInt8(value).hexadecimalValue : nil }
}
