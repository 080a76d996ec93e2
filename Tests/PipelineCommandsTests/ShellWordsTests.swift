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
    func words(text: String, expected: [String]) throws { #expect(try ShellWords(text).words == expected) }

    @Test(
        "a quote that is not closed is told with its place",
        arguments: [
            ("curl 'a", "' at line 1, column 6"), ("curl a \\\n \"b", "\" at line 2, column 2"),
            ("curl $'a", "$' at line 1"),
        ])
    func unbalanced(text: String, place: String) {
        let mistake = #expect(throws: CurlMistake.self) { try ShellWords(text) }
        #expect(mistake?.message.contains(place) == true, "\(mistake?.message ?? "")")
    }

    @Test("a command of a megabyte is read in one pass")
    func large() throws {
        let body = String(repeating: "{\"a\": 1} ", count: 120_000)
        let words = try ShellWords("curl -d '\(body)' https://example.com/").words
        #expect(words.count == 4 && words[2] == body)
    }
}
