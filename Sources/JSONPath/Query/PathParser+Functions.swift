/// Values, queries and functions inside filters, and their types (RFC 9535, section 2.4).
extension PathParser {
    /// A literal, a query or a function.
    mutating func primary() throws(JSONPathError) -> Primary {
        switch reader.current {
        case UInt8(ascii: "'"), UInt8(ascii: "\""): return .literal(.string(try string()))
        case let byte? where byte.isDigit || byte == UInt8(ascii: "-"): return .literal(try number())
        case UInt8(ascii: "@"):
            reader.advance()
            return .query(EmbeddedQuery(isRelative: true, segments: try segments()))
        default:
            if takeRoot() { return .query(EmbeddedQuery(isRelative: false, segments: try segments())) }
            return try word()
        }
    }

    private mutating func word() throws(JSONPathError) -> Primary {
        let start = reader.offset
        guard let first = reader.current, first.isWordByte else {
            throw reader.unexpected("a value or a query", hint: "the current node is @, the root \(root)")
        }
        let word = reader.takeText(while: \.isWordByte)
        if reader.current == UInt8(ascii: "(") { return try function(word, at: start) }
        if let value = Self.value(of: word) { return .literal(value) }
        let lowercase = word.lowercased()
        let isKnown = Self.value(of: lowercase) != nil
        throw reader.error(
            "“\(word)” is no value", at: start,
            hint: isKnown ? "write \(lowercase)" : "text needs quotes, a member @.\(word)")
    }

    /// A function; the reader stands on the bracket, which has to follow the name at once.
    private mutating func function(_ name: String, at start: Int) throws(JSONPathError) -> Primary {
        try reader.enter()
        defer { reader.leave() }
        reader.advance()
        switch name {
        case "length":
            let arguments = try arguments(of: name, count: 1, at: start)
            return .value(.length(try operand(arguments[0], of: name)), name: name)
        case "count":
            let arguments = try arguments(of: name, count: 1, at: start)
            return .value(.count(try nodes(arguments[0], of: name)), name: name)
        case "value":
            let arguments = try arguments(of: name, count: 1, at: start)
            return .value(.value(try nodes(arguments[0], of: name)), name: name)
        case "match", "search":
            let arguments = try arguments(of: name, count: 2, at: start)
            let text = try operand(arguments[0], of: name)
            let regex = try regex(arguments[1], of: name)
            return .test(.matches(text, regex, isWhole: name == "match"), name: name)
        default:
            throw reader.error(
                "there is no function “\(name)”", at: start, hint: "there are length, count, value, match and search")
        }
    }

    private typealias Argument = (primary: Primary, offset: Int)

    private mutating func arguments(of name: String, count: Int, at start: Int) throws(JSONPathError) -> [Argument] {
        var arguments: [Argument] = []
        reader.skipWhitespace()
        while !reader.take(")") {
            if !arguments.isEmpty {
                guard reader.take(",") else { throw unexpectedArgument(of: name) }
                reader.skipWhitespace()
            }
            let offset = reader.offset
            if reader.current == UInt8(ascii: "!") || reader.current == UInt8(ascii: "(") {
                throw unexpectedArgument(of: name)
            }
            arguments.append((try primary(), offset))
            reader.skipWhitespace()
        }
        if arguments.count == count { return arguments }
        throw reader.error("\(name)() takes \(count == 1 ? "one argument" : "\(count) arguments")", at: start)
    }

    private func unexpectedArgument(of name: String) -> JSONPathError {
        if reader.isAtEnd { return reader.error("\(name)( without its “)”") }
        return reader.error("\(name)() takes no condition", hint: "give it a value or a query")
    }

    /// An argument as a value.
    private func operand(_ argument: Argument, of name: String) throws(JSONPathError) -> PathOperand {
        switch argument.primary {
        case .literal(let value): return .literal(value)
        case .value(let operand, _): return operand
        case .query(let query):
            if query.isSingular { return .query(query) }
            throw reader.error(
                "\(name)() takes one value, and this query can give several nodes", at: argument.offset,
                hint: "use names and single indices only, or value(…)")
        case .test(_, let inner):
            throw reader.error("\(name)() takes a value, and \(inner)() is a condition", at: argument.offset)
        }
    }

    /// An argument as a query.
    private func nodes(_ argument: Argument, of name: String) throws(JSONPathError) -> EmbeddedQuery {
        if case .query(let query) = argument.primary { return query }
        throw reader.error("\(name)() takes a query", at: argument.offset, hint: "give it @… or \(root)…")
    }

    /// An argument as a regular expression; a literal is compiled now.
    private mutating func regex(_ argument: Argument, of name: String) throws(JSONPathError) -> PathRegex {
        let operand = try operand(argument, of: name)
        guard case .literal(let value) = operand else { return .computed(operand) }
        guard case .string(let pattern) = value else {
            warn(reader.error("\(name)() takes text as its pattern; this matches nothing", at: argument.offset))
            return .literal(nil)
        }
        do {
            return .literal(try LinearRegex(interoperable: pattern))
        } catch {
            if error == .tooLarge { throw reader.error(error.message, at: argument.offset, hint: error.hint) }
            let message = "this is no I-Regexp and matches nothing: \(error.message)"
            warn(reader.error(message, at: argument.offset, hint: error.hint))
            return .literal(nil)
        }
    }
}
