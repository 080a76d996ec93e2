import JSONPath

/// Cuts a string into literal text and expressions.
struct TemplateReader {
    private let text: String
    private let bytes: [UInt8]
    private let origin: TextOrigin
    private var position = 0
    private var literal: [UInt8] = []
    private var parts: [Template.Part] = []
    private var errors: [ExpressionError] = []

    init(_ text: String, _ origin: TextOrigin) {
        self.text = text
        self.origin = origin
        bytes = Array(text.utf8)
    }

    /// Returns whether `${{` stands anywhere in the text: what most strings of a document fail.
    static func hasExpression(_ text: String) -> Bool {
        var matched = 0
        for byte in text.utf8 {
            switch (matched, byte) {
            case (_, UInt8(ascii: "$")): matched = 1
            case (1, UInt8(ascii: "{")): matched = 2
            case (2, UInt8(ascii: "{")): return true
            default: matched = 0
            }
        }
        return false
    }

    mutating func template() throws(ExpressionError) -> Template {
        read()
        if var first = errors.first {
            first.others = Array(errors.dropFirst())
            first.references = Template(text: text, parts: parts, origin: origin).references
            throw first
        }
        return Template(text: text, parts: parts, origin: origin)
    }

    private mutating func read() {
        while position < bytes.count {
            if bytes[position] != UInt8(ascii: "$") {
                literal.append(bytes[position])
                position += 1
            } else if starts(with: "$${{") {
                literal += Array("${{".utf8)
                position += 4
            } else if starts(with: "${{") {
                expression()
            } else {
                literal.append(bytes[position])
                position += 1
            }
        }
        finishLiteral()
    }

    private mutating func expression() {
        let opener = position
        guard let end = end(from: opener + 3) else {
            errors.append(unclosed(opener))
            position = bytes.count
            return
        }
        finishLiteral()
        var content = bytes[(opener + 3)..<end].drop { Self.isSpace($0) }
        while let last = content.last, Self.isSpace(last) { content.removeLast() }
        let place = content.isEmpty ? opener : content.startIndex
        position = end + 2
        do throws(ExpressionError) {
            let text = String(decoding: content, as: UTF8.self)
            parts.append(.expression(try Expression.parse(text, in: origin.advanced(by: place))))
        } catch {
            errors.append(error)
        }
    }

    /// Returns where `}}` stands outside of texts in quotes and of objects; nil when there is none.
    private func end(from start: Int) -> Int? {
        var index = start
        var isInText = false
        var depth = 0
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: "'"): isInText.toggle()
            case UInt8(ascii: "\\") where isInText: index += 1
            case UInt8(ascii: "{") where !isInText: depth += 1
            case UInt8(ascii: "}") where !isInText && depth > 0: depth -= 1
            case UInt8(ascii: "}") where !isInText && index + 1 < bytes.count && bytes[index + 1] == UInt8(ascii: "}"):
                return index
            default: break
            }
            index += 1
        }
        return nil
    }

    /// An unclosed quote hides the `}}`; the expression's own message then says more.
    private func unclosed(_ opener: Int) -> ExpressionError {
        let rest = String(decoding: bytes[(opener + 3)...], as: UTF8.self)
        if rest.contains("}}") {
            do throws(ExpressionError) {
                _ = try Expression.parse(rest, in: origin.advanced(by: opener + 3))
            } catch { return error }
        }
        return ExpressionError(
            "\"${{\" is never closed", hint: "close it with }}, or write $${{ for the three characters themselves",
            range: origin.source(of: SourceRange(start: opener, end: opener + 3)))
    }

    private mutating func finishLiteral() {
        guard !literal.isEmpty else { return }
        parts.append(.literal(String(decoding: literal, as: UTF8.self)))
        literal = []
    }

    private func starts(with text: String) -> Bool { bytes[position...].starts(with: text.utf8) }

    static func isSpace(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0A, 0x0D].contains(byte) }
}
