import Testing

@testable import PipelineCommands

@Suite("Words of a shell command") struct ShellWordsTests {
    @Test(
        "quotes and escapes are read as bash reads them",
        arguments: [
            ("curl  a\tb", ["curl", "a", "b"]), (#"curl 'a b' c"#, ["curl", "a b", "c"]),
            (#"curl "a \"b\" \c""#, ["curl", #"a "b" \c"#]), (#"curl a'b'"c"d"#, ["curl", "abcd"]),
            (#"curl ''"#, ["curl", ""]), ("curl \\\n  -H x", ["curl", "-H", "x"]),
            ("curl \\\r\n  -H x", ["curl", "-H", "x"]), (#"curl a\ b"#, ["curl", "a b"]),
            (#"curl 'it'\''s'"#, ["curl", "it's"]), (#"curl $'it\'s\n\u00e9\x41\101'"#, ["curl", "it's\néAA"]),
            (#"curl $'\xc3\xa9'"#, ["curl", "é"]), ("curl a # b", ["curl", "a"]), ("curl a#b", ["curl", "a#b"]),
            (#"curl "$url/x""#, ["curl", "${{ env.url }}/x"]),
            (#"curl ${url}x '$url'"#, ["curl", "${{ env.url }}x", "$url"]),
            (#"curl "Bearer $API_KEY""#, ["curl", "Bearer ${{ secrets.API_KEY }}"]), ("curl $5", ["curl", "$5"]),
            (#"curl '${{ x }}'"#, ["curl", "${{ '${{' }} x }}"]), ("curl a | jq .id", ["curl", "a"]),
            ("curl a > b", ["curl", "a"]),
        ])
    func words(text: String, expected: [String]) throws {
        #expect(try ShellWords.commands(of: text).first?.words == expected)
    }

    /// A line break was once a space: the words of a second command joined those of the first.
    @Test(
        "a command ends where the shell ends it",
        arguments: [
            ("curl a\ncurl b", [["curl", "a"], ["curl", "b"]]),
            ("curl a\r\n\r\n# b\n  curl c", [["curl", "a"], ["curl", "c"]]),
            ("curl a; curl b && curl c &", [["curl", "a"], ["curl", "b"], ["curl", "c"]]),
            ("curl 'a\nb' \\\n c", [["curl", "a\nb", "c"]]),
            ("curl a | jq '.x\n;y' > o 2>&1\ncurl b", [["curl", "a"], ["curl", "b"]]),
            ("curl a?b=1&c=2", [["curl", "a?b=1"]]), ("curl a || curl b", [["curl", "a"]]),
            ("curl -d @- a <<'END'\nit's\n END\ncurl b", [["curl", "-d", "@-", "a"], ["curl", "b"]]),
            ("curl -d @- a <<< 'x'\ncurl b", [["curl", "-d", "@-", "a"], ["curl", "b"]]),
            ("> curl a \\\n> -s", [["curl", "a", "-s"]]), ("$ curl a\n% curl b", [["curl", "a"], ["curl", "b"]]),
        ])
    func commands(text: String, expected: [[String]]) throws {
        #expect(try ShellWords.commands(of: text).map(\.words) == expected)
    }

    @Test(
        "a command for cmd of Windows is refused with what to copy instead",
        arguments: [
            "curl ^\"https://h.example/x^\" ^\r\n  -H ^\"a: b^\"", "curl \"https://h.example/x\" ^\n -s",
        ])
    func windows(text: String) {
        let mistake = #expect(throws: CurlMistake.self) { try ShellWords.commands(of: text) }
        #expect(mistake?.message.contains("cmd of Windows: ^ at line 1") == true, "\(mistake?.message ?? "")")
        #expect(mistake?.hint.contains("Copy as cURL (bash)") == true)
    }

    @Test("a caret in quotes or inside a word is itself")
    func carets() throws {
        #expect(try ShellWords.commands(of: "curl 'a^' b^c").map(\.words) == [["curl", "a^", "b^c"]])
    }

    @Test(
        "a quote that is not closed is told with its place",
        arguments: [
            ("curl 'a", "' at line 1, column 6"), ("curl a \\\n \"b", "\" at line 2, column 2"),
            ("curl $'a", "$' at line 1"),
        ])
    func unbalanced(text: String, place: String) {
        let mistake = #expect(throws: CurlMistake.self) { try ShellWords.commands(of: text) }
        #expect(mistake?.message.contains(place) == true, "\(mistake?.message ?? "")")
    }

    @Test("a command of a megabyte is read in one pass")
    func large() throws {
        let body = String(repeating: "{\"a\": 1} ", count: 120_000)
        let words = try #require(ShellWords.commands(of: "curl -d '\(body)' https://example.com/").first).words
        #expect(words.count == 4 && words[2] == body)
    }
}
