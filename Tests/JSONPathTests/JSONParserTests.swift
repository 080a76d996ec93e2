import JSONPath
import Testing

/// The strict parser, with inputs in the manner of the JSON parsing test suite ("Parsing JSON is a Minefield").
struct JSONParserTests {
    @Test(
        "valid documents are read and written again unchanged",
        arguments: [
            "null", "true", "false", "0", "-0", "1", "-12", "0.5", "1e3", "1E+2", "1.25e-7",
            "123456789012345678901234567890",
            "1.50", "\"\"", "\"a\"", "[]", "{}", "[1,[2,[3]]]", "{\"b\":1,\"a\":2}", "{\"\":0}",
            "[null,1,true,\"x\",{}]",
            "\"é😀\u{7F}\u{2028}\"", "[\"\\\"\\\\\\n\\r\\t\\b\\f\\u0001\"]", "[-0.0]", "{\"a\":[{\"b\":{}}]}",
        ])
    func valid(text: String) throws {
        #expect(try JSON.parse(text).text == text)
    }

    @Test(
        "white space is allowed around every token",
        arguments: [" [1]", "[1] ", "\n[\t1 ,\r2 ]\n", "{ \"a\" : 1 , \"b\" : [ ] }", "\u{FEFF}[1]", " null "])
    func whitespace(text: String) throws {
        _ = try JSON.parse(text)
    }

    @Test(
        "what is not JSON is refused",
        arguments: [
            "", " ", "[", "]", "[1", "[1,", "[1,]", "[,1]", "[1 2]", "[1,,2]", "{", "}", "{\"a\"", "{\"a\":",
            "{\"a\":1",
            "{\"a\":1,", "{\"a\":1,}", "{\"a\" 1}", "{a:1}", "{'a':1}", "{1:1}", "{\"a\":1 \"b\":2}", "[1]]", "[1]x",
            "{}{}", "tru", "truex", "True", "nul", "NaN", "Infinity", "-Infinity", "-", "+1", "01", "-01", "1.", ".1",
            "-.1",
            "1e", "1e+", "1.e1", "1.2.3", "0x10", "1_000", "1a", "\"", "\"a", "\"\\", "\"\\x\"", "\"\\u12\"",
            "\"\\u12g4\"",
            "\"\\ud800\\u12g4\"", "\"\t\"", "\"\n\"", "\"\u{0}\"", "'a'",
            "// x\n1", "/* */1", "[1]#", "\u{A0}1", "1\u{0C}", "[\"a\"\u{0}]", "\u{FEFF}\u{FEFF}1",
            "{\"a\":1,,\"b\":2}",
            "[\"\\U0041\"]", "[1:2]", "{\"a\",1}", "{[1]:2}", "[\"a\\\u{0}\"]", "- 1", "[-]", "1 1", "\"a\" \"b\"",
            "nullnull",
        ])
    func invalid(text: String) {
        #expect(throws: JSONSyntaxError.self) { try JSON.parse(text) }
    }

    @Test(
        "bytes that are not UTF-8 are refused where they stand",
        arguments: [
            ([0x22, 0xFF, 0x22], 1), ([0x22, 0x61, 0xC3, 0x22], 2), ([0x22, 0xC0, 0x80, 0x22], 1),
            ([0x22, 0xED, 0xA0, 0x80, 0x22], 1), ([0x22, 0xF4, 0x90, 0x80, 0x80, 0x22], 1),
            ([0x22, 0x5C, 0x6E, 0xE2, 0x82, 0x22], 3), ([0x5B, 0xE9, 0x5D], 1),
        ] as [([UInt8], Int)])
    func invalidUTF8(bytes: [UInt8], offset: Int) {
        let error = #expect(throws: JSONSyntaxError.self) { try JSON.parse(bytes) }
        #expect(error?.offset == offset)
    }

    @Test(
        "half of a surrogate pair is read as U+FFFD in an answer, and told in a document",
        arguments: [
            (#""\ud800""#, "\u{FFFD}"), (#""\udc00""#, "\u{FFFD}"), (#""\ud800\u0041""#, "\u{FFFD}A"),
            (#""\ud800x""#, "\u{FFFD}x"), (#""\ud800\n""#, "\u{FFFD}\n"), (#""\ud83d\ud83d\ude00""#, "\u{FFFD}😀"),
        ])
    func loneSurrogates(text: String, expected: String) throws {
        #expect(try JSON.parse(text) == .string(expected))
        #expect(throws: JSONSyntaxErrors.self) { try JSONNode.parse(SourceText(name: "a.json", text: text)) }
    }

    @Test("escapes become what they stand for")
    func escapes() throws {
        #expect(try JSON.parse(#""\u0041\u00e9\uD83D\uDE00\/\b\f\n\r\t\"\\""#) == "Aé😀/\u{8}\u{C}\n\r\t\"\\")
        #expect(try JSON.parse(#""a long plain beginning, then \u0000 and a long plain end""#).string?.utf8.count == 51)
    }

    @Test("order and digits are kept, and the last of two equal names wins at the place of the first")
    func orderAndDuplicates() throws {
        let text = #"{"z":1.50,"a":10000000000000000000001,"z":3}"#
        #expect(try JSON.parse(text).text == #"{"z":3,"a":10000000000000000000001}"#)
        let error = #expect(throws: JSONSyntaxError.self) { try JSON.parse(text, duplicates: .error) }
        #expect(error?.range == SourceRange(start: 38, end: 41))
    }

    @Test("names are compared scalar by scalar, not by canonical equivalence")
    func canonicalEquivalence() throws {
        let object = try #require(try JSON.parse("{\"\u{E9}\":1,\"e\u{301}\":2}", duplicates: .error).object)
        #expect(object.count == 2)
        #expect(object["e\u{301}"] == 2)
        #expect(JSON.string("\u{E9}") != JSON.string("e\u{301}"))
    }

    @Test("512 levels are read, one more is an error, and so are 100,000 or millions", arguments: ["[", "{\"a\":"])
    func depth(opening: String) throws {
        let closing = opening == "[" ? "]" : "}"
        let inner = opening == "[" ? "" : "1"
        func nested(_ depth: Int) -> String {
            String(repeating: opening, count: depth) + inner + String(repeating: closing, count: depth)
        }
        _ = try JSON.parse(nested(512))
        for depth in [513, 100_000, 2_000_000] {
            #expect(throws: JSONSyntaxError.self) { try JSON.parse(nested(depth)) }
            let source = SourceText(name: "deep.json", text: nested(depth))
            #expect(throws: JSONSyntaxErrors.self) { try JSONNode.parse(source) }
        }
        #expect(throws: JSONSyntaxError.self) { try JSON.parse(nested(4), maximumDepth: 3) }
        #expect(throws: JSONSyntaxError.self) { try JSON.parse(nested(513), maximumDepth: 100_000) }
    }

    @Test(
        "errors say where and what",
        arguments: [
            ("[1,\n2", "the text ends inside an array", 5), ("{\"a\":1,}", "a comma before the end", 6),
            ("{\"a\" 1}", "a colon after the name is expected, not “1”", 5),
            ("[1 2]", "a comma or “]” is expected, not “2”", 3),
            ("\"ab", "a string without its closing quote", 0), ("[01]", "a number with a leading zero", 1),
            ("1 x", "there is something after the end of the document", 2),
            ("[tru]", "a value is expected, not “t”", 1),
        ])
    func messages(text: String, message: String, offset: Int) {
        let error = #expect(throws: JSONSyntaxError.self) { try JSON.parse(text) }
        #expect(error?.message == message)
        #expect(error?.offset == offset)
    }

    @Test("any collection of bytes can be read")
    func collections() throws {
        #expect(try JSON.parse(Array("[1]".utf8)) == [1])
        #expect(try JSON.parse("x[1]".utf8.dropFirst()) == [1])
        #expect(try JSON.parse(Array("[1]".utf8).reversed().reversed() as [UInt8]) == [1])
        #expect(try JSON.parse(repeatElement(UInt8(ascii: "7"), count: 3)) == 777)
    }
}
