import JSONPath
import Testing

/// I-Regexp (RFC 9485).
struct InteroperableRegexTests {
    @Test(
        "what matches as a whole",
        arguments: [
            ("", "", true), ("", "a", false), ("a", "a", true), ("a|b|", "", true), ("ab*c", "abbbc", true),
            ("ab+c", "ac", false),
            ("ab?c", "ac", true), ("a{2}", "aa", true), ("a{2}", "aaa", false), ("a{2,}", "aaaa", true),
            ("a{1,2}", "aaa", false),
            ("a{0}", "", true), ("(ab|c)+", "abcab", true), ("a.c", "a\u{2028}c", true), ("a.c", "a\nc", false),
            ("a.c", "a\rc", false), ("a.c", "a😀c", true), ("[a-c]+", "abc", true), ("[^a-c]", "d", true),
            ("[^a-c]", "a", false),
            ("[-a]+", "a-", true), ("[a-]+", "a-", true), ("[.]", "x", false), ("[\\]\\[]+", "[]", true),
            ("\\n\\r\\t", "\n\r\t", true),
            ("\\(\\)\\*\\+\\-\\.\\?\\[\\\\\\]\\^\\{\\|\\}", "()*+-.?[\\]^{|}", true), ("[^^]", "^", false),
            ("[a^]", "^", true),
            ("\\p{L}+", "aÉ漢", true), ("\\p{Lu}", "a", false), ("\\p{Lu}", "É", true), ("\\P{Lu}", "é", true),
            ("\\p{Nd}+", "1٣", true),
            ("[\\p{Lu}\\p{Nd}]+", "A1", true), ("[^\\p{L}]", "1", true), ("[\\P{L}]", "a", false),
            ("\\p{Sc}", "€", true),
            ("\\p{Zs}", " ", true), ("\\p{Pd}", "-", true), ("\\p{Cc}", "\u{1}", true), ("\\p{Mn}", "\u{301}", true),
            ("\\p{Cn}", "\u{378}", true),
            ("a\"b'c/d#", "a\"b'c/d#", true), ("^ab$", "ab", true), ("a^b", "a^b", true), ("a$b", "a$b", true),
            ("(^a|b$)", "a", true),
            ("e", "é", false), ("[0-9]{4}-[0-9]{2}", "2026-11", true), ("(a|ab)(c|bcd)", "abcd", true),
        ])
    func whole(pattern: String, text: String, matches: Bool) throws {
        #expect(try LinearRegex(interoperable: pattern).matchesWhole(text) == matches)
    }

    @Test(
        "what is found somewhere",
        arguments: [("b", "abc", true), ("^b", "abc", false), ("c$", "abc", true), ("d", "abc", false), ("", "", true)])
    func found(pattern: String, text: String, isFound: Bool) throws {
        #expect(try LinearRegex(interoperable: pattern).isFound(in: text) == isFound)
    }

    @Test(
        "what RFC 9485 does not have is refused",
        arguments: [
            "\\d", "\\w", "\\s", "\\b", "\\1", "(?:a)", "(?i)a", "(?=a)", "a**", "a+?", "a*?", "+", "?", "*a", "a{",
            "a{,2}", "a{2,1}",
            "a{x}", "}", "]", "[", "[]", "[^]", "[a", "[z-a]", "[a-\\p{L}]", "[a-b-c]", "[[:alpha:]]", "[a[b]]", "(",
            ")", "(a", "a)",
            "\\", "\\p", "\\p{", "\\p{Xx}", "\\p{IsGreek}", "\\pL", "\\u0041", "\\x41", "\\$", "\\/", "[a-z-[aeiou]]",
            "a|*", "a{1}{2}",
        ])
    func refused(pattern: String) {
        #expect(throws: LinearRegexError.self) { try LinearRegex(interoperable: pattern) }
    }
}
