import JSONPath
import Testing

/// The everyday syntax, preference, groups, and bounds on work.
struct LinearRegexTests {
    @Test(
        "the first match and its groups are what Perl finds",
        arguments: [
            (#"(\d+)%"#, "step 7 of 9: 45% done", ["45%", "45"]), (#"a|ab"#, "ab", ["a"]), (#"ab|a"#, "ab", ["ab"]),
            (#"(a+)(a*)"#, "aaa", ["aaa", "aaa", ""]), (#"(a+?)(a*)"#, "aaa", ["aaa", "a", "aa"]),
            (#"a{2,3}?"#, "aaaa", ["aa"]),
            (#"(a)|(b)"#, "b", ["b", nil, "b"]), (#"(?:(a)|b)*"#, "ab", ["ab", "a"]),
            (#"<(.+?)>"#, "<a><b>", ["<a>", "a"]),
            (#"<(.+)>"#, "<a><b>", ["<a><b>", "a><b"]), (#"(?i)straße|É"#, "STRASSE é", ["é"]), (#"x*"#, "aaa", [""]),
            (#"\bcat\b"#, "concat cat", ["cat"]), (#"\Bcat"#, "cat concat", ["cat"]), (#"^b"#, "a\nb", nil),
            (#"(?m)^b$"#, "a\nb\nc", ["b"]),
            (#"a.b"#, "a\nb", nil), (#"(?s)a.b"#, "a\nb", ["a\nb"]),
            (#"[\w.-]+@[\w-]+"#, "to me.x-y@host now", ["me.x-y@host"]),
            (#"\s(\S+)$"#, "a b\u{3000}c", ["\u{3000}c", "c"]), (#"[^\d\s]+"#, "12 ab", ["ab"]),
            (#"(?i:A)b"#, "aB ab", ["ab"]),
            (#"(?i)[^a]"#, "Aab", ["b"]), (#"a(?i)b|c"#, "C", ["C"]), (#"(?i)a(?-i)b"#, "AB Ab", ["Ab"]),
            (#"{"id":"(\w+)"}"#, #"{"id":"x1"}"#, [#"{"id":"x1"}"#, "x1"]),
            (#"\x41\u00e9\u{1F600}\x{42}"#, "Aé😀B", ["Aé😀B"]), (#"[]a]+"#, "]a", ["]a"]), (#"[a\-z]+"#, "-az", ["-az"]),
            (#"\p{Lu}\P{Lu}"#, "aBc", ["Bc"]), (#"(a*)*"#, "aa", ["aa", "aa"]), (#"(|a)+"#, "aaa", ["", ""]),
            (#"\Aab\z"#, "ab", ["ab"]),
            (#"(?<year>\d{4})-(?P<month>\d\d)"#, "on 2026-11-20", ["2026-11", "2026", "11"]),
            (#"(?i)k"#, "\u{212A}", ["\u{212A}"]),
            (#"(?i)σ"#, "ς", ["ς"]), (#"[a-\d]+"#, "a-1", ["a-1"]), (#"\."#, "a.b", ["."]),
            (#"a{,2}"#, "a{,2}", ["a{,2}"]), (#"€+"#, "a€€", ["€€"]),
        ] as [(String, String, [String?]?)])
    func firstMatch(pattern: String, text: String, expected: [String?]?) throws {
        let match = try LinearRegex(pattern).firstMatch(in: text)
        #expect(match.map { [$0.text] + $0.groups } == expected)
        if let match { #expect(String(text[match.range]) == match.text) }
        #expect(try LinearRegex(pattern).isFound(in: text) == (expected != nil))
    }

    @Test("named groups are had by name")
    func names() throws {
        let match = try #require(try LinearRegex(#"(?<a>x)?(?<b>y)"#).firstMatch(in: "y"))
        #expect(match["b"] == "y")
        #expect(match["a"] == nil)
        #expect(try LinearRegex(#"(?<a>x)(y)"#).groupNames == ["a", nil])
    }

    @Test(
        "the whole text must match where that is asked",
        arguments: [("a|ab", "ab", true), ("a*?", "aaa", true), ("b", "ab", false), ("(?i)[a-c]+", "aBC", true)])
    func whole(pattern: String, text: String, matches: Bool) throws {
        #expect(try LinearRegex(pattern).matchesWhole(text) == matches)
    }

    @Test(
        "what can't be matched in linear time is refused by name",
        arguments: [
            (#"(a)\1"#, "backreferences"), (#"(?=a)"#, "lookaheads"), (#"(?!a)"#, "lookaheads"),
            (#"(?<=a)"#, "lookbehinds"),
            (#"(?<!a)"#, "lookbehinds"), (#"(?>a)"#, "atomic groups"), (#"a++"#, "possessive"),
            (#"\k<a>"#, "backreferences"),
            (#"(?P=a)"#, "backreferences"), (#"(?R)"#, "recursive"), (#"a**"#, "two quantifiers"),
            (#"*a"#, "nothing to repeat"),
            (#"("#, "without “)”"), (#"a)"#, "without its “(”"), (#"[a"#, "without “]”"),
            (#"[z-a]"#, "wrong way round"), (#"a{3,2}"#, "wrong way round"),
            (#"\q"#, "no escape"), (#"\"#, "ends with a backslash"), (#"\p{Foo}"#, "no Unicode category"),
            (#"[[:alpha:]]"#, "POSIX"), (#"(?x)a"#, "not supported"),
            (#"(?<a>x)(?<a>y)"#, "two groups"), (#"((a{1000}){1000}){1000}"#, "too large"),
            (#"((()){1000}){1000}"#, "too large"), (#"a{99999999999999999999}"#, "too large"),
            (#"\u12"#, "hexadecimal"), (#"\x{110000}"#, "hexadecimal"),
        ])
    func refused(pattern: String, message: String) {
        let error = #expect(throws: LinearRegexError.self) { try LinearRegex(pattern) }
        #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
    }

    @Test("deeply nested groups are an error, not a crash")
    func depth() {
        for opening in ["(", "(?:", "(?i:"] {
            let pattern = String(repeating: opening, count: 100_000)
            #expect(throws: LinearRegexError.self) { try LinearRegex(pattern) }
            #expect(throws: LinearRegexError.self) { try LinearRegex(interoperable: pattern) }
        }
    }

    @Test(
        "patterns that make backtracking explode take steps linear in the text",
        arguments: [
            "(a+)+$", "(a+)+b", "(a|a)*b", "(a*)*b", "(x+x+)+y", "(.*)(.*)(.*)[^a]", "a?a?a?a?a?a?a?aaaaaaab",
            "(a|aa)+$",
        ])
    func worstCases(pattern: String) throws {
        let text = String(repeating: "a", count: 50_000)
        let query = try JSONPathQuery("$[?search(@, '\(pattern)')]")
        let nodes = try query.nodes(in: [.string(text)], budget: 60 * text.utf8.count)
        #expect(nodes.isEmpty == !pattern.hasSuffix("$"))
        #expect((try LinearRegex(pattern).firstMatch(in: text) != nil) == !nodes.isEmpty)
    }

    @Test("a search passes over what can't begin a match, and finds what stands behind it")
    func skipping() throws {
        let text = String(repeating: "INFO é step 12 of 100\n", count: 2_000) + "😀 45%"
        #expect(try LinearRegex(#"(\d+)%"#).firstMatch(in: text)?.groups == ["45"])
        let boundary = try LinearRegex(#"\b%"#).firstMatch(in: "é %% 1%")
        #expect(boundary.map { "é %% 1%"[..<$0.range.lowerBound] } == "é %% 1")
        #expect(try LinearRegex("😀").firstMatch(in: text)?.text == "😀")
        #expect(try LinearRegex("(?i)ÉX|k").firstMatch(in: "--- \u{212A}")?.text == "\u{212A}")
        #expect(try LinearRegex("z").firstMatch(in: text) == nil)
        #expect(try LinearRegex("").firstMatch(in: "")?.text == "")
    }
}
