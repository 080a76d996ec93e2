import JSONPath
import Testing

/// Positions and frames.
struct SourceTextTests {
    @Test("lines and columns begin at 1; columns count scalars")
    func positions() {
        let source = SourceText(name: "a", text: "ab\r\né😀x\n\ry")
        let offsets = [0, 2, 4, 6, 10, 11, 12, 13, 99]
        let positions = offsets.map { source.position(at: $0) }
        let expected = [(1, 1), (1, 3), (2, 1), (2, 2), (2, 3), (2, 4), (3, 1), (4, 1), (4, 2)]
        #expect(positions.map(\.line) == expected.map(\.0))
        #expect(positions.map(\.column) == expected.map(\.1))
        #expect((1...5).map { source.line(at: $0) } == ["ab", "é😀x", "", "y", ""])
    }

    @Test("a byte-order mark is no column")
    func byteOrderMark() {
        let source = SourceText(name: "a", text: "\u{FEFF}{}")
        #expect(source.position(at: 3) == SourcePosition(line: 1, column: 1))
        #expect(source.line(at: 1) == "{}")
        #expect(source.frame(SourceRange(start: 4, end: 5)) == "{}\n ^")
    }

    @Test("the frame marks the range beneath the line")
    func frames() {
        let source = SourceText(name: "a", text: "{\n\t\"kind\": \"compte\",\n}")
        #expect(source.frame(SourceRange(start: 11, end: 19)) == "\t\"kind\": \"compte\",\n\t        ^~~~~~~~")
        #expect(source.frame(SourceRange(start: 20, end: 20)) == "\t\"kind\": \"compte\",\n\t                 ^")
        #expect(source.frame(SourceRange(start: 0, end: 22)) == "{\n^")
        #expect(source.frame(SourceRange(start: 500, end: 900)) == "}\n ^")
        #expect(SourceText(name: "a", text: "").frame(SourceRange(start: 0, end: 0)) == "\n^")
    }

    @Test("wide characters move the caret by two columns, combining marks by none")
    func widths() {
        let source = SourceText(name: "a", text: "\"漢e\u{301}\": x")
        #expect(source.frame(SourceRange(start: 10, end: 11)) == "\"漢e\u{301}\": x\n       ^")
    }

    @Test("nothing that a terminal would obey is shown raw")
    func controls() {
        let bytes = Array("\u{1B}[31m\u{7F}\u{202E}\u{85}".utf8) + [0xFF, 0x78]
        let frame = SourceText(name: "a", bytes: bytes).frame(SourceRange(start: 12, end: 13))
        #expect(frame == "␛[31m␡���x\n         ^")
    }

    @Test("a long line is cut around the caret")
    func longLines() {
        let text = String(repeating: "a", count: 500) + "X" + String(repeating: "b", count: 500)
        let lines = SourceText(name: "a", text: text).frame(SourceRange(start: 500, end: 501)).split(separator: "\n")
        #expect(lines[0].count == 122)
        #expect(lines[0].first == "…" && lines[0].last == "…")
        let caret = lines[1].distance(from: lines[1].startIndex, to: lines[1].firstIndex(of: "^") ?? lines[1].endIndex)
        #expect(Array(lines[0])[caret] == "X")
        let huge = SourceText(name: "a", text: String(repeating: "é", count: 1_000_000) + "X")
        let end = huge.frame(SourceRange(start: 2_000_000, end: 2_000_001))
        #expect(end == "…" + String(repeating: "é", count: 119) + "X\n" + String(repeating: " ", count: 120) + "^")
        let start = SourceText(name: "a", text: text).frame(SourceRange(start: 0, end: 900)).split(separator: "\n")
        #expect(start[0].count == 121 && start[1].count == 120)
    }
}
