import JSONPath
import Testing

/// RFC 6901.
struct JSONPointerTests {
    /// The document of section 5.
    private let text = #"""
        {"foo": ["bar", "baz"], "": 0, "a/b": 1, "c%d": 2, "e^f": 3, "g|h": 4, "i\\j": 5, "k\"l": 6, " ": 7, "m~n": 8}
        """#

    @Test(
        "the examples of RFC 6901 section 5 hold, for values and for places",
        arguments: [
            ("/foo", #"["bar","baz"]"#), ("/foo/0", "\"bar\""), ("/", "0"), ("/a~1b", "1"), ("/c%d", "2"),
            ("/e^f", "3"),
            ("/g|h", "4"), ("/i\\j", "5"), ("/k\"l", "6"), ("/ ", "7"), ("/m~0n", "8"),
        ])
    func examples(pointer: String, value: String) throws {
        let parsed = try JSONPointer(pointer)
        #expect(parsed.value(in: try JSON.parse(text))?.text == value)
        #expect(parsed.node(in: try JSONNode.parse(SourceText(name: "a", text: text)))?.json.text == value)
        #expect(parsed.description == pointer)
    }

    @Test("the empty pointer is the whole document")
    func whole() throws {
        let document = try JSON.parse(text)
        #expect(try JSONPointer("").value(in: document) == document)
        #expect(JSONPointer.root.description == "")
    }

    @Test(
        "what does not exist is nil",
        arguments: [
            "/x", "/foo/2", "/foo/-", "/foo/00", "/foo/01", "/foo/1x", "/foo/+1", "/foo/", "/foo/0/x",
            "/foo/99999999999999999999", "/foo/bar",
        ])
    func missing(pointer: String) throws {
        #expect(try JSONPointer(pointer).value(in: JSON.parse(text)) == nil)
        #expect(try JSONPointer(pointer).node(in: JSONNode.parse(SourceText(name: "a", text: text))) == nil)
    }

    @Test(
        "what is no pointer is refused at its place",
        arguments: [("a", 0), ("/a~2", 2), ("/~", 1), ("/a/~x", 3), ("#/a", 0)])
    func invalid(pointer: String, offset: Int) {
        let error = #expect(throws: JSONPointerError.self) { try JSONPointer(pointer) }
        #expect(error?.offset == offset)
    }

    @Test("~01 is ~1, and pointers are built escaped")
    func building() throws {
        #expect(try JSONPointer("/~01").tokens == ["~1"])
        let pointer = JSONPointer.root.appending("a/b").appending(3).appending("~").appending("")
        #expect(pointer.description == "/a~1b/3/~0/")
        #expect(try JSONPointer(pointer.description) == pointer)
        #expect(pointer.parent?.description == "/a~1b/3/~0")
        #expect(JSONPointer.root.parent == nil)
    }
}
