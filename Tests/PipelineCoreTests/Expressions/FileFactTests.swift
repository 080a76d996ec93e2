import JSONPath
import PipelineCore
import Testing

@Suite("Facts about files") struct FileFactTests {
    @Test(
        "are journaled with the file's fingerprint, and read as they were before there was one",
        arguments: [1, "a", [1]] as [JSON])
    func kept(value: JSON) {
        let kept = FileFact(value: value, fingerprint: "4 1.5 9")
        #expect(FileFact(kept.json).value == value)
        #expect(FileFact(kept.json).fingerprint == "4 1.5 9")
        #expect(FileFact(value).value == value)
        #expect(FileFact(value).fingerprint == nil)
        #expect(FileFact(value: value, fingerprint: nil).json == value)
    }

    @Test("are those of one file: two names that Swift takes for equal are of two")
    func names() {
        #expect(Fact.size("/\u{E9}") != .size("/e\u{301}"))
        #expect(Set([Fact.size("/\u{E9}"), .size("/e\u{301}"), .size("/\u{E9}"), .text("/\u{E9}")]).count == 3)
    }

    /// A copy of an input that stood on another machine was read all the same.
    @Test("of the whole job that one scope drops are gone in it, until it has others")
    func dropped() {
        var facts = KnownFacts([.copy(url: "https://h/a"): "/there/a", .size("/b"): 1])
        facts[.copy(url: "https://h/a")] = nil
        #expect(facts[.copy(url: "https://h/a")] == nil && facts[.size("/b")] == 1)
        facts[.copy(url: "https://h/a")] = "/here/a"
        #expect(facts[.copy(url: "https://h/a")] == "/here/a")
    }

    @Test("have their value in expressions, in either form")
    func evaluated() throws {
        let expression = try Expression.parse("size('a') + 1", in: SourceRange(start: 0, end: 13))
        for json: JSON in [4, FileFact(value: 4, fingerprint: "4 1.5 9").json] {
            #expect(try expression.evaluate(in: Scope(facts: [.size("/in/a"): json], baseFolder: "/in")) == 5)
        }
    }
}
