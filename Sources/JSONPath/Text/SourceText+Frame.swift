extension SourceText {
    /// The line of a place with `^` or `^~~~` beneath, fit for a terminal: two lines, without a line end.
    ///
    /// Tabs stay tabs in both lines, so that the caret stands right whatever their width; control characters are shown
    /// by their pictures, bytes that are not UTF-8 and invisible format characters by U+FFFD. Of a line longer than
    /// 120 characters only the part around the caret is shown, with `…` where it is cut. A range of several lines is
    /// marked to the end of its first.
    public func frame(_ range: SourceRange) -> String {
        let start = min(max(range.start, 0), bytes.count)
        let content = neighbourhood(of: start, in: content(of: lineNumber(at: start)))
        let caret = scalarCount(content.lowerBound, to: min(start, content.upperBound))
        let end = min(max(range.end, start), content.upperBound)
        let scalars = windowScalars(of: content)
        let length = max(1, scalarCount(content.lowerBound, to: end) - caret)
        return Self.frame(scalars, caret: caret, length: length)
    }

    private static let longestLine = 120

    private static func frame(_ scalars: [Unicode.Scalar], caret: Int, length: Int) -> String {
        let window = window(of: scalars.count, around: caret, length: length)
        var text = String.UnicodeScalarView()
        var marks = ""
        if window.lowerBound > 0 {
            text.append("…")
            marks += " "
        }
        for position in window {
            let scalar = scalars[position]
            text.append(scalar == "\t" ? scalar : scalar.displayed)
            marks += mark(scalar, position: position, caret: caret, end: caret + length)
        }
        if window.upperBound < scalars.count { text.append("…") }
        if caret >= scalars.count { marks += "^" }
        while marks.last == " " || marks.last == "\t" { marks.removeLast() }
        return String(text) + "\n" + marks
    }

    private static func mark(_ scalar: Unicode.Scalar, position: Int, caret: Int, end: Int) -> String {
        let width = scalar.displayed.displayWidth
        if position == caret { return "^" + String(repeating: "~", count: max(width - 1, 0)) }
        if position > caret, position < end { return scalar == "\t" ? "\t" : String(repeating: "~", count: width) }
        return scalar == "\t" ? "\t" : String(repeating: " ", count: width)
    }

    /// The part of a long line that is shown: the caret with some room before it.
    private static func window(of count: Int, around caret: Int, length: Int) -> Range<Int> {
        guard count > longestLine else { return 0..<count }
        let room = max(20, (longestLine - length) / 2)
        let start = min(max(0, caret - room), count - longestLine)
        return start..<(start + longestLine)
    }

    /// Of a very long line the bytes near the place, more than are ever shown, cut between scalars.
    private func neighbourhood(of offset: Int, in content: Range<Int>) -> Range<Int> {
        var start = max(content.lowerBound, min(offset, content.upperBound) - 1_000)
        var end = min(content.upperBound, offset + 2_000)
        while start > content.lowerBound, bytes[start] & 0xC0 == 0x80 { start -= 1 }
        while end < content.upperBound, bytes[end] & 0xC0 == 0x80 { end += 1 }
        return start..<end
    }

    private func windowScalars(of content: Range<Int>) -> [Unicode.Scalar] {
        Array(String(decoding: bytes[content], as: UTF8.self).unicodeScalars)
    }

    private func scalarCount(_ start: Int, to end: Int) -> Int {
        guard end > start else { return 0 }
        return String(decoding: bytes[start..<end], as: UTF8.self).unicodeScalars.count
    }
}
