/// Filters: logical expressions, comparisons and tests (RFC 9535, section 2.3.5).
extension PathParser {
    /// A thing that can stand where a value or a test begins, before it is known which it is.
    enum Primary {
        case literal(JSON)
        case query(EmbeddedQuery)
        /// A function whose result is a value.
        case value(PathOperand, name: String)
        /// A function whose result is true or false.
        case test(PathCondition, name: String)
    }

    /// `logical-expr`: tests joined by `||`, which binds less than `&&`.
    mutating func condition() throws(JSONPathError) -> PathCondition {
        try reader.enter()
        defer { reader.leave() }
        var parts = [try conjunction()]
        while takeOperator("||") { parts.append(try conjunction()) }
        return parts.count == 1 ? parts[0] : .any(parts)
    }

    private mutating func conjunction() throws(JSONPathError) -> PathCondition {
        var parts = [try basic()]
        while takeOperator("&&") { parts.append(try basic()) }
        return parts.count == 1 ? parts[0] : .all(parts)
    }

    private mutating func takeOperator(_ text: String) -> Bool {
        let start = reader.offset
        reader.skipWhitespace()
        guard reader.take(text) else {
            reader.move(to: start)
            return false
        }
        reader.skipWhitespace()
        return true
    }

    private mutating func basic() throws(JSONPathError) -> PathCondition {
        if reader.take("!") {
            reader.skipWhitespace()
            if reader.current == UInt8(ascii: "(") { return .not(try parenthesized()) }
            let start = reader.offset
            let test = try test(try primary(), at: start)
            try refuseComparison("“!” can't stand before a comparison", hint: "write !(… == …)")
            return .not(test)
        }
        if reader.current == UInt8(ascii: "(") { return try parenthesized() }
        return try comparisonOrTest()
    }

    private mutating func parenthesized() throws(JSONPathError) -> PathCondition {
        let opening = reader.offset
        reader.advance()
        reader.skipWhitespace()
        let condition = try condition()
        reader.skipWhitespace()
        if reader.isAtEnd { throw reader.error("a “(” without its “)”", at: opening) }
        guard reader.take(")") else { throw unexpectedInCondition("“)”") }
        try refuseComparison("a condition in parentheses can't be compared", hint: "compare the values inside them")
        return condition
    }

    private mutating func refuseComparison(_ message: String, hint: String) throws(JSONPathError) {
        let start = reader.offset
        reader.skipWhitespace()
        let place = reader.offset
        let isComparison = try comparison() != nil
        reader.move(to: start)
        if isComparison { throw reader.error(message, at: place, hint: hint) }
    }

    private mutating func comparisonOrTest() throws(JSONPathError) -> PathCondition {
        let start = reader.offset
        let left = try primary()
        let end = reader.offset
        reader.skipWhitespace()
        guard let comparison = try comparison() else {
            reader.move(to: end)
            return try test(left, at: start)
        }
        let first = try comparable(left, at: start)
        reader.skipWhitespace()
        let second = reader.offset
        return .comparison(first, comparison, try comparable(try primary(), at: second))
    }

    /// A comparison operator, when one stands here.
    private mutating func comparison() throws(JSONPathError) -> PathComparison? {
        if reader.take("==") { return .equal }
        if reader.take("!=") { return .notEqual }
        if reader.take("<=") { return .lessOrEqual }
        if reader.take(">=") { return .greaterOrEqual }
        if reader.take("<") { return .less }
        if reader.take(">") { return .greater }
        if reader.current == UInt8(ascii: "=") {
            let isRegex = reader.peek(1) == UInt8(ascii: "~")
            throw reader.error(
                isRegex ? "there is no “=~”" : "“=” compares nothing",
                hint: isRegex ? "write match(@.name, 'pattern') or search(…)" : "write ==")
        }
        return nil
    }

    /// Something as a test: a query asks whether there is a node.
    private func test(_ primary: Primary, at start: Int) throws(JSONPathError) -> PathCondition {
        switch primary {
        case .query(let query): return .exists(query)
        case .test(let condition, _): return condition
        case .literal:
            throw reader.error("a literal alone is no condition", at: start, hint: "compare it: @.name == 'text'")
        case .value(_, let name):
            throw reader.error(
                "the result of \(name)() is a value, no condition", at: start, hint: "compare it: \(name)(…) == …")
        }
    }

    private func comparable(_ primary: Primary, at start: Int) throws(JSONPathError) -> PathOperand {
        switch primary {
        case .literal(let value): return .literal(value)
        case .value(let operand, _): return operand
        case .query(let query):
            if query.isSingular { return .query(query) }
            throw reader.error(
                "a query that can give several nodes can't be compared", at: start,
                hint: "use names and single indices only, or value(…) or count(…)")
        case .test(_, let name):
            throw reader.error(
                "the result of \(name)() can't be compared", at: start, hint: "it is a condition itself: [?\(name)(…)]")
        }
    }

    func unexpectedInCondition(_ expected: String) -> JSONPathError {
        switch reader.current {
        case UInt8(ascii: "&"): reader.unexpected(expected, hint: "“and” is written &&")
        case UInt8(ascii: "|"): reader.unexpected(expected, hint: "“or” is written ||")
        default: reader.unexpected(expected)
        }
    }
}
