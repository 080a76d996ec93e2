import JSONPath

extension DiagnosticCollector {
    /// Reports mistakes of a document's syntax. A string that ended within its expression is the last of them, and the answer
    /// is false: what comes after it would be read as something else.
    func report(_ errors: [JSONSyntaxError]) -> Bool {
        for error in errors {
            if let quote = quote(inExpressionBefore: error.range.start) {
                let pointer = PointerScan.pointer(to: quote, in: source)
                report(
                    range: SourceRange(start: quote, end: quote + 1), pointer: pointer,
                    "the string ends here, within its ${{ }}",
                    hint: "in an expression texts stand in single quotes: 'text'")
                return false
            }
            let pointer = PointerScan.pointer(to: error.range.start, in: source)
            report(range: error.range, pointer: pointer, error.message, hint: error.hint)
        }
        return true
    }

    /// The place of the quote that stands just before a mistake, in its line, and leaves an expression open.
    private func quote(inExpressionBefore mistake: Int) -> Int? {
        let bytes = source.bytes[..<min(mistake, source.bytes.count)]
        let line = bytes[(bytes.lastIndex(of: UInt8(ascii: "\n")) ?? bytes.startIndex)...]
        guard let quote = line.lastIndex(where: { $0 != 0x20 && $0 != 0x09 }), line[quote] == UInt8(ascii: "\"") else {
            return nil
        }
        let text = String(decoding: line[..<quote], as: UTF8.self)
        guard let opened = text.ranges(of: "${{").last, !text[opened.upperBound...].contains("}}") else { return nil }
        return quote
    }
}
