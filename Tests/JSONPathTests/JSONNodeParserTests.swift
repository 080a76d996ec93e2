import JSONPath
import Testing

/// The parser of definitions.
struct JSONNodeParserTests {
    private func errors(_ text: String) -> [JSONSyntaxError] {
        JSONNode.read(SourceText(name: "a.json", text: text)).errors
    }

    @Test("comments, trailing commas and a byte-order mark are accepted")
    func tolerated() throws {
        let text = """
            \u{FEFF}// first
            { /* a */ "b" /* c */ : /**/ [1, 2, /* d */], // e
              "f": { "g": null, },
            } // end
            """
        let node = try JSONNode.parse(SourceText(name: "a.json", text: text))
        #expect(node.json == ["b": [1, 2], "f": ["g": nil]])
    }

    @Test("every value and name knows its place")
    func places() throws {
        let source = SourceText(name: "a.json", text: "{\n  \"a\": [10, \"é\", {}]\n}")
        let node = try JSONNode.parse(source)
        let member = try #require(node.member("a"))
        #expect(member.nameRange == SourceRange(start: 4, end: 7))
        #expect(member.value.range == SourceRange(start: 9, end: 23))
        let last = try #require(JSONPointer("/a/2").node(in: node))
        #expect(source.position(at: last.range.start) == SourcePosition(line: 2, column: 18))
        #expect(node.range == SourceRange(start: 0, end: 25))
    }

    @Test("all duplicate names are reported, at each later place")
    func duplicates() {
        let found = errors("{\"a\":1,\n\"a\":{\"b\":1,\"b\":2},\"a\":3}")
        #expect(found.map(\.offset) == [8, 19, 26])
        #expect(found.first?.hint == "the first one is at line 1; keep one of them")
    }

    @Test(
        "mistakes come with a hint at the exact place",
        arguments: [
            ("{'a': 1}", 1, "a string in single quotes", "strings need double quotes"),
            ("{a: 1}", 1, "a name without quotes", "names need double quotes: \"a\""),
            ("{\"a\": 1\n \"b\": 2}", 7, "a comma is missing here", "put a comma after the value"),
            ("[1 2]", 2, "a comma is missing here", "put a comma after the value"),
            ("[True]", 1, "“True” is no JSON value", "write true"),
            ("[None]", 1, "“None” is no JSON value", "write null"),
            ("[draft]", 1, "“draft” is no JSON value", "strings need double quotes"),
            (
                "\n{\n\"a\": 1", 9, "the text ends inside an object",
                "unclosed object opened at line 2: add the missing “}”"
            ),
            ("[1, 2", 5, "the text ends inside an array", "unclosed array opened at line 1: add the missing “]”"),
            (
                "{\"a\": [1}", 8, "“]” is expected, not “}”",
                "add “]” for the array that opens at line 1, or write “{” there"
            ),
            (
                "{\"a\": [\"b\": 1]}", 10, "a name with a value stands in an array",
                "write { } for the [ ] that opens at line 1, or put { } around each of them"
            ),
            ("{\"a\" 1}", 4, "a colon is missing after this name", "write \"a\": value"),
            ("{\"a\" = 1}", 5, "a colon is expected, not “=”", "write \"name\": value"),
            ("{\"a\": }", 6, "a value is missing here", "write null for no value"),
            ("[,1]", 1, "a comma with nothing before it", "remove this comma"),
            ("[+1]", 1, "a number can't begin with “+”", "remove the “+”"),
            ("[.5]", 1, "a number can't begin with “.”", "put a 0 before it"),
            ("[01]", 1, "a number with a leading zero", "remove the zero, or put the digits in double quotes"),
            (
                "[\"a\n\"]", 1, "a string without its closing quote",
                "add the missing “\"”; a line break inside a string is written \\n"
            ),
            ("# x\n1", 0, "a comment begins with “//”", "write // for #"),
            ("[1 /* x", 3, "a comment without its end", "add the missing “*/”"),
            ("[30s]", 1, "this is not a number", "text that begins with a digit needs double quotes"),
            ("", 0, "the text is empty", "a document is one JSON value"),
            ("{} {}", 3, "there is something after the end of the document", "a document has one value only"),
        ])
    func hints(text: String, offset: Int, message: String, hint: String) {
        let first = errors(text).first
        #expect(first?.offset == offset)
        #expect(first?.message == message)
        #expect(first?.hint == hint)
    }

    @Test(
        "a text in UTF-16 is told to be that", arguments: [[0xFF, 0xFE, 0x7B, 0], [0xFE, 0xFF, 0, 0x7B]] as [[UInt8]])
    func otherEncoding(bytes: [UInt8]) {
        let found = JSONNode.read(SourceText(name: "a.json", bytes: bytes)).errors
        #expect(found.map(\.message) == ["this text is in UTF-16, and JSON is UTF-8"])
        #expect(found.first?.hint == "save it as UTF-8")
        let strict = #expect(throws: JSONSyntaxError.self) { try JSON.parse(bytes) }
        #expect(strict?.hint == "save it as UTF-8")
    }

    @Test("what can be read over is read over, and all of it reported")
    func recovery() {
        let reading = JSONNode.read(SourceText(name: "a.json", text: "{a: 'x' \"b\": True, \"c\": [1 2]}"))
        #expect(reading.errors.count == 5)
        #expect(reading.node?.json == ["a": "x", "b": true, "c": [1, 2]])
        #expect(throws: JSONSyntaxErrors.self) {
            try JSONNode.parse(SourceText(name: "a.json", text: "{a: 1}"))
        }
    }

    @Test("a text full of mistakes ends after a hundred")
    func manyMistakes() {
        #expect(errors("[" + String(repeating: "x ", count: 10_000) + "]").count == 101)
    }
}
