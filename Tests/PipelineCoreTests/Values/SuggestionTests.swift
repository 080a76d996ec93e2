import PipelineCore
import Testing

@Suite struct SuggestionTests {
    static let words = ["inputs", "env", "secrets", "stages", "self", "item", "index", "job", "response", "part"]

    @Test(
        "a mistyped word finds what was meant",
        arguments: [
            ("input", "inputs"), ("INPUTS", "inputs"), ("inptus", "inputs"), ("stage", "stages"),
            ("reponse", "response"),
            ("slef", "self"), ("enf", "env"), ("secerts", "secrets"),
        ])
    func finds(word: String, meant: String) {
        #expect(Suggestion.nearest(to: word, among: Self.words) == meant)
    }

    @Test("a far word finds nothing", arguments: ["", "x", "video", "jab job", "environment", "zz"])
    func findsNothing(word: String) {
        #expect(Suggestion.nearest(to: word, among: Self.words) == nil)
    }

    @Test("a hint is a question")
    func hint() {
        #expect(Suggestion.hint(for: "stags", among: Self.words) == "did you mean \"stages\"?")
        #expect(Suggestion.hint(for: "quark", among: Self.words) == nil)
    }

    @Test("endless words cost little")
    func long() {
        let word = String(repeating: "ab", count: 100_000)
        #expect(Suggestion.nearest(to: word, among: [String(repeating: "ba", count: 100_000)]) != "")
    }
}
