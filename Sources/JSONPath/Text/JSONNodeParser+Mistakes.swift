/// Comments, and what people write who think of another language: noted with a hint, and read over.
extension JSONNodeParser {
    /// Passes white space, `// …` and `/* … */`.
    mutating func skipTrivia() throws(JSONSyntaxError) {
        while true {
            scanner.skipWhitespace()
            switch scanner.current {
            case UInt8(ascii: "/"): try skipComment()
            case UInt8(ascii: "#"):
                try note(JSONSyntaxError("a comment begins with “//”", at: scanner.offset, hint: "write // for #"))
                skipLine()
            case 0x0B, 0x0C: throw strayWhitespace("control character", length: 1)
            case 0xC2 where follows(0xC2, 0xA0): throw strayWhitespace("no-break space", length: 2)
            case 0xEF where follows(0xEF, 0xBB): throw strayWhitespace("byte-order mark or such", length: 3)
            default: return
            }
        }
    }

    private mutating func skipComment() throws(JSONSyntaxError) {
        let opening = scanner.offset
        if follows(0x2F, 0x2F) { return skipLine() }
        guard follows(0x2F, 0x2A) else {
            throw JSONSyntaxError("a lone “/”", at: opening, hint: "a comment begins with // or /*")
        }
        scanner.offset += 2
        while !follows(0x2A, 0x2F) {
            guard scanner.current != nil else {
                throw JSONSyntaxError("a comment without its end", at: opening, length: 2, hint: "add the missing “*/”")
            }
            scanner.offset += 1
        }
        scanner.offset += 2
    }

    private mutating func skipLine() {
        while let byte = scanner.current, byte != 0x0A, byte != 0x0D { scanner.offset += 1 }
    }

    /// Returns whether the text goes on with these two bytes.
    private func follows(_ first: UInt8, _ second: UInt8) -> Bool {
        scanner.offset + 1 < scanner.bytes.count && scanner.bytes[scanner.offset] == first
            && scanner.bytes[scanner.offset + 1] == second
    }

    private func strayWhitespace(_ name: String, length: Int) -> JSONSyntaxError {
        JSONSyntaxError("a \(name) between values", at: scanner.offset, length: length, hint: "remove it")
    }

    /// A member's name; names without quotes or in single ones are noted.
    mutating func name() throws(JSONSyntaxError) -> String {
        let start = scanner.offset
        switch scanner.current {
        case UInt8(ascii: "\""): return try scanner.string()
        case UInt8(ascii: "'"): return try singleQuoted()
        case let byte? where byte.isWordByte || byte == UInt8(ascii: "$"):
            let name = takeWord()
            try note(
                JSONSyntaxError(
                    range: SourceRange(start: start, end: scanner.offset), message: "a name without quotes",
                    hint: "names need double quotes: \"\(name)\""))
            return name
        default:
            throw .unexpected(at: start, in: scanner.bytes, expected: "a name in double quotes")
        }
    }

    /// `true`, `false`, `null`, or something that was meant as a value.
    mutating func word() throws(JSONSyntaxError) -> JSONNode.Content {
        let start = scanner.offset
        guard let first = scanner.current else { throw .valueMissing(at: start) }
        if first == UInt8(ascii: "'") { return .string(try singleQuoted()) }
        guard first.isWordByte else { throw notAValue() }
        let word = takeWord()
        let range = SourceRange(start: start, end: scanner.offset)
        switch word {
        case "true": return .bool(true)
        case "false": return .bool(false)
        case "null": return .null
        default: break
        }
        guard let (meant, content) = Self.meaning(of: word) else {
            try note(
                JSONSyntaxError(range: range, message: "“\(word)” is no JSON value", hint: "strings need double quotes")
            )
            return .string(word)
        }
        try note(JSONSyntaxError(range: range, message: "“\(word)” is no JSON value", hint: "write \(meant)"))
        return content
    }

    private static func meaning(of word: String) -> (String, JSONNode.Content)? {
        switch word.lowercased() {
        case "true", "yes", "on": ("true", .bool(true))
        case "false", "no", "off": ("false", .bool(false))
        case "null", "none", "nil", "undefined", "nan", "infinity": ("null", .null)
        default: nil
        }
    }

    private func notAValue() -> JSONSyntaxError {
        let offset = scanner.offset
        switch scanner.current {
        case UInt8(ascii: "+"):
            return JSONSyntaxError("a number can't begin with “+”", at: offset, hint: "remove the “+”")
        case UInt8(ascii: "."):
            return JSONSyntaxError("a number can't begin with “.”", at: offset, hint: "put a 0 before it")
        case UInt8(ascii: "`"), UInt8(ascii: "$"):
            return JSONSyntaxError("this is no JSON value", at: offset, hint: "strings need double quotes")
        default: return .unexpected(at: offset, in: scanner.bytes, expected: "a value")
        }
    }

    private mutating func singleQuoted() throws(JSONSyntaxError) -> String {
        let start = scanner.offset
        let text = try scanner.string()
        let range = SourceRange(start: start, end: scanner.offset)
        try note(
            JSONSyntaxError(range: range, message: "a string in single quotes", hint: "strings need double quotes"))
        return text
    }

    private mutating func takeWord() -> String {
        let start = scanner.offset
        while let byte = scanner.current, byte.isWordByte || byte == UInt8(ascii: "$") || byte == UInt8(ascii: "-") {
            scanner.offset += 1
        }
        return String(decoding: scanner.bytes[start..<scanner.offset], as: UTF8.self)
    }
}
