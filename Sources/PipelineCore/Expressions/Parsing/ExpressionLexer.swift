import JSONPath

/// Cuts an expression into tokens, one at a time, as the parser asks.
///
/// In texts, a quote is doubled (`'it''s'`) or escaped (`'it\'s'`); `\\ \n \r \t \uXXXX` are the other escapes. A
/// backslash must itself be escaped in JSON, so the doubled quote and JSON's own `\n` are the readable forms.
struct ExpressionLexer {
    let bytes: [UInt8]
    private(set) var position = 0

    init(_ text: String) { bytes = Array(text.utf8) }

    mutating func next() throws(ExpressionError) -> ExpressionToken {
        while let byte = peek(), [0x20, 0x09, 0x0A, 0x0D].contains(byte) { position += 1 }
        let start = position
        let kind = try kind()
        return ExpressionToken(kind: kind, range: SourceRange(start: start, end: position))
    }

    private mutating func kind() throws(ExpressionError) -> ExpressionToken.Kind {
        guard let byte = peek() else { return .end }
        switch byte {
        case UInt8(ascii: "'"): return .text(try text())
        case UInt8(ascii: "0")...UInt8(ascii: "9"): return .number(try number())
        case _ where Self.isNameStart(byte): return .name(name(hyphens: false))
        default: return try sign()
        }
    }

    /// The name after a dot: there `-` between two characters of a name belongs to it, so that ids like `my-stage`
    /// and headers need no brackets; a subtraction is written with spaces.
    mutating func memberName(after dot: SourceRange) throws(ExpressionError) -> (name: String, range: SourceRange) {
        position = dot.end
        guard let byte = peek(), Self.isNameStart(byte) else {
            let found = peek() ?? 0
            let hint =
                (48...57).contains(found)
                ? "elements of an array stand in brackets: [0]" : "other names stand in brackets: ['a name']"
            throw error("a name must follow \".\"", hint: hint, from: dot.start, to: max(dot.end, position))
        }
        let start = position
        let name = name(hyphens: true)
        return (name, SourceRange(start: start, end: position))
    }

    static func isNameStart(_ byte: UInt8) -> Bool {
        (65...90).contains(byte) || (97...122).contains(byte) || byte == UInt8(ascii: "_")
    }

    static func isNamePart(_ byte: UInt8) -> Bool { isNameStart(byte) || (48...57).contains(byte) }

    func error(_ message: String, hint: String? = nil, from start: Int, to end: Int) -> ExpressionError {
        ExpressionError(message, hint: hint, range: SourceRange(start: start, end: end))
    }

    private func peek(_ ahead: Int = 0) -> UInt8? {
        position + ahead < bytes.count ? bytes[position + ahead] : nil
    }

    private mutating func name(hyphens: Bool) -> String {
        let start = position
        while let byte = peek() {
            let isHyphen = hyphens && byte == UInt8(ascii: "-") && peek(1).map(Self.isNamePart) == true
            guard Self.isNamePart(byte) || isHyphen else { break }
            position += 1
        }
        return String(decoding: bytes[start..<position], as: UTF8.self)
    }
}

extension ExpressionLexer {
    private mutating func number() throws(ExpressionError) -> JSONNumber {
        let start = position
        skipDigits()
        if peek() == UInt8(ascii: "."), peek(1).map({ (48...57).contains($0) }) == true {
            position += 1
            skipDigits()
        }
        if let byte = peek(), byte == UInt8(ascii: "e") || byte == UInt8(ascii: "E") { skipExponent() }
        let stop = position
        while let byte = peek(), Self.isNamePart(byte) { position += 1 }
        let literal = String(decoding: bytes[start..<position], as: UTF8.self)
        let hasLeadingZero = bytes[start] == 48 && stop > start + 1 && (48...57).contains(bytes[start + 1])
        guard position == stop, !hasLeadingZero else {
            let hint = position == stop ? "write it without the leading zero" : "texts stand in quotes: '\(literal)'"
            throw error("\"\(literal)\" is no number", hint: hint, from: start, to: position)
        }
        return JSONNumber(literal: literal)
    }

    private mutating func skipDigits() {
        while let byte = peek(), (48...57).contains(byte) { position += 1 }
    }

    private mutating func skipExponent() {
        let sign = peek(1) == UInt8(ascii: "+") || peek(1) == UInt8(ascii: "-") ? 1 : 0
        guard let digit = peek(1 + sign), (48...57).contains(digit) else { return }
        position += 1 + sign
        skipDigits()
    }

    private mutating func text() throws(ExpressionError) -> String {
        let start = position
        var content: [UInt8] = []
        position += 1
        while let byte = peek() {
            position += 1
            switch byte {
            case UInt8(ascii: "'"):
                guard peek() == byte else { return String(decoding: content, as: UTF8.self) }
                content.append(byte)
                position += 1
            case UInt8(ascii: "\\"): content += try escape()
            default: content.append(byte)
            }
        }
        throw error(
            "the text that starts here is never closed",
            hint: "close it with '; a quote inside a text is doubled: 'it''s'",
            from: start, to: position)
    }

    private mutating func escape() throws(ExpressionError) -> [UInt8] {
        let start = position - 1
        guard let byte = peek() else { return [UInt8(ascii: "\\")] }
        position += 1
        switch byte {
        case UInt8(ascii: "'"), UInt8(ascii: "\\"), UInt8(ascii: "\""), UInt8(ascii: "/"): return [byte]
        case UInt8(ascii: "n"): return [10]
        case UInt8(ascii: "r"): return [13]
        case UInt8(ascii: "t"): return [9]
        case UInt8(ascii: "u"): return try unicode(from: start)
        default:
            throw error(
                "\"\\\(String(decoding: [byte], as: UTF8.self))\" is no escape",
                hint: "a backslash is written \\\\; the escapes are \\' \\\\ \\n \\r \\t \\uXXXX", from: start,
                to: position)
        }
    }

    private mutating func unicode(from start: Int) throws(ExpressionError) -> [UInt8] {
        var value = try unit(from: start)
        if (0xD800..<0xDC00).contains(value), peek() == UInt8(ascii: "\\"), peek(1) == UInt8(ascii: "u") {
            position += 2
            let low = try unit(from: start)
            guard (0xDC00..<0xE000).contains(low) else { throw badUnicode(from: start) }
            value = 0x10000 + (value - 0xD800) << 10 + (low - 0xDC00)
        }
        guard let scalar = Unicode.Scalar(value) else { throw badUnicode(from: start) }
        return Array(String(Character(scalar)).utf8)
    }

    private mutating func unit(from start: Int) throws(ExpressionError) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard let digit = peek().flatMap(Hex.value) else { throw badUnicode(from: start) }
            value = value << 4 | UInt32(digit)
            position += 1
        }
        return value
    }

    private func badUnicode(from start: Int) -> ExpressionError {
        error(
            "\\u must be followed by four hexadecimal digits of a character", hint: "like \\u00e9 for é", from: start,
            to: position)
    }
}

extension ExpressionLexer {
    private static let signs: [(String, ExpressionToken.Kind)] = [
        ("??", .operation(.coalesce)), ("==", .operation(.equal)), ("!=", .operation(.unequal)),
        ("<=", .operation(.lessOrEqual)), (">=", .operation(.greaterOrEqual)), ("&&", .operation(.and)),
        ("||", .operation(.or)), ("<", .operation(.less)), (">", .operation(.greater)), ("+", .operation(.add)),
        ("-", .operation(.subtract)), ("*", .operation(.multiply)), ("/", .operation(.divide)), ("!", .not),
        ("?", .question), (":", .colon), (",", .comma), (".", .dot), ("(", .openParenthesis),
        (")", .closeParenthesis), ("[", .openBracket), ("]", .closeBracket),
        ("{", .openBrace), ("}", .closeBrace),
    ]

    /// The signs and the habits of several characters by their first byte, the longest first.
    private static let signsByByte: [[(text: String, kind: ExpressionToken.Kind)]] = byFirstByte(signs, \.0)
    private static let habitsByByte: [[(text: String, hint: String)]] = byFirstByte(
        habits.filter { $0.0.utf8.count != 1 }, \.0)

    private static func byFirstByte<Entry>(_ entries: [Entry], _ text: (Entry) -> String) -> [[Entry]] {
        var found = [[Entry]](repeating: [], count: 256)
        for entry in entries { found[Int(text(entry).utf8.first ?? 0)].append(entry) }
        return found
    }

    /// The things that people write from habit, and what to write here.
    private static let habits: [(String, String)] = [
        ("===", "compare with =="), ("!==", "compare with !="), ("=", "compare with =="), ("&", "write && for \"and\""),
        ("|", "write || for \"or\""), ("\"", "texts stand in single quotes: 'text'"),
        ("`", "texts stand in single quotes: 'text'"), ("?.", "\".\" already gives null for a missing member"),
        (
            "$",
            "an expression starts with a name such as inputs, stages or response; $ starts selectors, and in an answer "
                + "$.x is response.body.x"
        ),
    ]

    private static let operators =
        "the operators are + - * / ?? == != < <= > >= && || ! and ? :, and texts stand in quotes: 'text'"

    private mutating func sign() throws(ExpressionError) -> ExpressionToken.Kind {
        let start = position
        let first = Int(bytes[start])
        if let habit = Self.habitsByByte[first].first(where: { starts(with: $0.text) }) {
            throw unexpected(habit.text, hint: habit.hint)
        }
        for (text, kind) in Self.signsByByte[first] where starts(with: text) {
            position += text.utf8.count
            return kind
        }
        let character = String(decoding: bytes[start...].prefix(8), as: UTF8.self).first.map(String.init) ?? ""
        throw unexpected(character, hint: Self.habits.first { $0.0 == character }?.1 ?? Self.operators)
    }

    private func unexpected(_ text: String, hint: String) -> ExpressionError {
        error("\(quoted(text)) is no part of an expression", hint: hint, from: position, to: position + text.utf8.count)
    }

    private func quoted(_ text: String) -> String { text == "\"" ? "'\"'" : "\"\(text)\"" }

    private func starts(with text: String) -> Bool { bytes[position...].starts(with: text.utf8) }
}
