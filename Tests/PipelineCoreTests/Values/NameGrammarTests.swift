import Testing

@testable import PipelineCore

@Suite struct NameGrammarTests {
    @Test(
        "a job's key has 1 to 200 letters, digits, points, underscores and hyphens",
        arguments: [
            ("a", true), ("nightly-2026.11_23", true), ("A.wav", true), ("-", true), (".", true),
            (String(repeating: "k", count: 200), true), (String(repeating: "k", count: 201), false), ("", false),
            ("a b", false), ("a/b", false), ("ä", false), ("a\n", false),
        ])
    func jobKey(text: String, isOne: Bool) throws {
        #expect(NameGrammar.jobKey.accepts(text) == isOne)
        #expect((try text.wholeMatch(of: Regex(NameGrammar.jobKey.pattern)) != nil) == isOne)
    }
}
