/// A page of Markdown as a terminal shows it: headings, paragraphs, lists, code and tables, wrapped to a width.
struct MarkdownText {
    private let source: [Substring]
    private let width: Int

    private static let firstColumn = 26

    init(_ text: String, width: Int) {
        source = text.split(separator: "\n", omittingEmptySubsequences: false)
        self.width = max(20, width)
    }

    var lines: [StyledText] {
        var lines: [StyledText] = []
        var paragraph: [Substring] = []
        var isCode = false
        var isHeader = true
        func flush() {
            guard let first = paragraph.first else { return }
            let indent = first.hasPrefix("- ") ? 2 : 0
            lines += wrapped(paragraph.joined(separator: " "), hanging: indent)
            paragraph = []
        }
        for line in source {
            if line.hasPrefix("```") {
                flush()
                isCode.toggle()
            } else if isCode {
                lines.append("    \(String(line), .cyan)")
            } else if line.hasPrefix("#") {
                flush()
                lines.append(StyledText(Self.plain(line.drop { $0 == "#" || $0 == " " }), .bold))
            } else if line.hasPrefix("|") {
                flush()
                let isRule = line.allSatisfy { "|-: ".contains($0) } && line.contains("-")
                // What stands above the rule names the columns; what they hold says it well enough.
                if !isRule, !isHeader { lines += row(line) }
                isHeader = isRule ? false : isHeader
            } else if line.allSatisfy(\.isWhitespace) {
                flush()
                if lines.last?.isEmpty == false { lines.append("") }
            } else {
                if line.hasPrefix("- ") { flush() }
                paragraph.append(line)
            }
            if !line.hasPrefix("|") { isHeader = true }
        }
        flush()
        while lines.last?.isEmpty == true { lines.removeLast() }
        return lines
    }

    /// A row of a table: the first cell, and next to it, or below where it is too long, the others.
    private func row(_ line: Substring) -> [StyledText] {
        let bar = "\u{1}"
        let cells = line.replacing("\\|", with: bar).split(separator: "|", omittingEmptySubsequences: true)
            .map { Self.plain($0[...]).replacing(bar, with: "|") }
        guard let first = cells.first else { return [] }
        let rest = cells.dropFirst().filter { !$0.isEmpty }.joined(separator: "  ")
        let indent = min(Self.firstColumn, width / 3)
        let text = wrap(rest, to: width - indent - 2)
        let blank = String(repeating: " ", count: indent)
        let below = text.dropFirst().map { StyledText("\(blank)  \($0)") }
        guard TextColumns.count(first) <= indent else {
            return [StyledText(first, .bold)] + text.map { StyledText("\(blank)  \($0)") }
        }
        return ["\(StyledText(first, .bold).padded(to: indent))  \(text.first ?? "")"] + below
    }

    private func wrapped(_ text: String, hanging indent: Int) -> [StyledText] {
        wrap(Self.plain(text[...]), to: width - indent).enumerated().map { index, line in
            StyledText(index == 0 ? line : String(repeating: " ", count: indent) + line)
        }
    }

    private func wrap(_ text: String, to width: Int) -> [String] {
        var lines: [String] = []
        var line = ""
        for word in text.split(separator: " ") {
            if !line.isEmpty, TextColumns.count(line) + 1 + TextColumns.count(String(word)) > width {
                lines.append(line)
                line = ""
            }
            line += (line.isEmpty ? "" : " ") + word
        }
        return line.isEmpty ? lines : lines + [line]
    }

    /// The text without marks of code, emphasis and links.
    private static func plain(_ text: Substring) -> String {
        var plain = String(text).replacing(/<doc:([^>]*)>/) { String($0.output.1) }
        plain = plain.replacing(/\[([^\]]*)\]\([^)]*\)/) { String($0.output.1) }
        plain = plain.replacing("**", with: "").replacing("`", with: "")
        let start = plain.drop { $0 == " " }
        return String(start.reversed().drop { $0 == " " }.reversed())
    }
}
