package import JSONPath

/// One mistake of a document, or what is most likely one: where it stands, what is wrong, and how to mend it.
package struct Diagnostic: Error, Sendable, Hashable {
    /// The place where it stands in the source.
    package let range: SourceRange
    /// The place as a JSON Pointer (RFC 6901); empty for the whole document.
    package let pointer: String
    /// The mistake in words, one sentence without a full stop.
    package let message: String
    /// A way to mend it.
    package let hint: String?
    /// True if it is only most likely a mistake: then the document is valid all the same.
    package let isWarning: Bool

    package init(range: SourceRange, pointer: String, message: String, hint: String?, isWarning: Bool = false) {
        self.range = range
        self.pointer = pointer
        self.message = message
        self.hint = hint
        self.isWarning = isWarning
    }

    fileprivate var order: (Int, Int, String) { (range.start, range.end, message) }
}

/// The mistakes of one document, all of them, in the order of the file.
package struct DefinitionError: Error, Sendable {
    private let all: DiagnosticReport

    package init(source: SourceText, diagnostics: [Diagnostic]) {
        all = DiagnosticReport(source: source, diagnostics: diagnostics)
    }

    package var source: SourceText { all.source }

    package var diagnostics: [Diagnostic] { all.diagnostics }

    /// Each mistake with its line and column, see ``DiagnosticReport/located``.
    package var located: [(diagnostic: Diagnostic, position: SourcePosition)] { all.located }

    /// The whole report, see ``DiagnosticReport/text``.
    package var report: String { all.text }
}

/// Diagnostics of one document as people read them, in the order of the file.
package struct DiagnosticReport: Sendable {
    package let source: SourceText
    package let diagnostics: [Diagnostic]

    package init(source: SourceText, diagnostics: [Diagnostic]) {
        self.source = source
        self.diagnostics = diagnostics.sorted { $0.order < $1.order }
    }

    /// Each diagnostic with its line and column. All are found in one pass over the text, however many there are and
    /// however long its lines.
    package var located: [(diagnostic: Diagnostic, position: SourcePosition)] {
        var cursor = PositionCursor(source.bytes)
        return diagnostics.map { ($0, cursor.position(at: $0.range.start)) }
    }

    /// The whole report: `FILE:LINE:COLUMN: error: …`, the pointer, the line with a caret and the hint, for each.
    package var text: String {
        located.map { diagnostic, position in
            let word = diagnostic.isWarning ? "warning" : "error"
            var lines = ["\(source.name):\(position.line):\(position.column): \(word): \(diagnostic.message)"]
            if !diagnostic.pointer.isEmpty { lines.append("  at \(Self.shortened(diagnostic.pointer))") }
            lines.append(source.frame(diagnostic.range))
            if let hint = diagnostic.hint { lines.append("  hint: \(hint)") }
            return lines.joined(separator: "\n")
        }.joined(separator: "\n\n")
    }

    /// Of a very long pointer only the ends are shown; whoever wants all of it asks for the report as JSON.
    private static func shortened(_ pointer: String) -> String {
        pointer.count <= 160 ? pointer : "\(pointer.prefix(80))…\(pointer.suffix(79))"
    }
}
