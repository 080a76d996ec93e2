import JSONPath
import PipelineCore
import Testing

@Suite struct RedactorTests {
    static let secret = #"p@ss "wörd"/+\x"#
    static let redactor = Redactor(["PASS": secret, "TOKEN": "sk-1234567890abcdef", "PIN": "42x"])

    @Test(
        "plain text",
        arguments: [
            ("Bearer sk-1234567890abcdef", "Bearer ‹secret:TOKEN›"), ("nothing here", "nothing here"), ("", ""),
            ("sk-1234567890abcdefsk-1234567890abcdef", "‹secret:TOKEN›‹secret:TOKEN›"),
            ("xsk-1234567890abcdefx", "x‹secret:TOKEN›x"),
            ("sk-1234567890abcde", "sk-1234567890abcde"), (#"<p@ss "wörd"/+\x>"#, "<‹secret:PASS›>"),
        ])
    func plain(text: String, redacted: String) {
        #expect(Self.redactor.redact(text) == redacted)
    }

    @Test("what was redacted stays as it is, also where a secret is a word of its mark")
    func marked() {
        let redactor = Redactor(["PASS": "secret", "TOKEN": "PASS"])
        let once = redactor.redact("the secret and PASS")
        #expect(once == "the ‹secret:PASS› and ‹secret:TOKEN›")
        #expect(redactor.redact(once) == once)
        // What a service writes between such signs is no mark.
        #expect(Redactor(["P": "hunter22"]).redact("‹secret:hunter22›") == "‹secret:‹secret:P››")
    }

    @Test(
        "percent-encoded, whichever characters were encoded",
        arguments: [
            "p%40ss%20%22w%C3%B6rd%22%2F%2B%5Cx", "p%40ss%20%22w%c3%b6rd%22%2f%2b%5cx", "p@ss+%22w%C3%B6rd%22/%2B%5Cx",
            "%70@ss%20%22w%C3%B6rd%22/+%5cx",
            "p%2540ss%2520%2522w%25C3%25B6rd%2522%252F%252B%255Cx",
        ])
    func percent(encoded: String) {
        #expect(Self.redactor.redact("http://h/?q=\(encoded)&r=1") == "http://h/?q=‹secret:PASS›&r=1")
    }

    @Test(
        "with other white space than its own, and line by line",
        arguments: [
            "-----BEGIN\r\nMIIBVgIBADANBgkqhki\r\nG9w0BAQE", "-----BEGIN MIIBVgIBADANBgkqhki G9w0BAQE",
            "-----BEGINMIIBVgIBADANBgkqhkiG9w0BAQE", "MIIBVgIBADANBgkqhki", "a b  c",
        ])
    func respaced(text: String) {
        let redactor = Redactor(["KEY": "-----BEGIN\nMIIBVgIBADANBgkqhki\nG9w0BAQE\n", "WORDS": "a b  c"])
        #expect(redactor.redact("<\(text)>") == (text.hasPrefix("a") ? "<‹secret:WORDS›>" : "<‹secret:KEY›>"))
        #expect(redactor.redact("a b c") == "‹secret:WORDS›" && redactor.redact("G9w0BAQE") == "G9w0BAQE")
    }

    @Test(
        "escaped in JSON",
        arguments: [
            #"p@ss \"wörd\"/+\\x"#, #"p@ss \"w\u00f6rd\"\/+\\x"#, #"\u0070@ss \u0022w\u00F6rd\u0022/+\u005cx"#,
            #"p@ss \\\"wörd\\\"/+\\\\x"#,
        ])
    func json(encoded: String) {
        #expect(Self.redactor.redact(#"{"a":"\#(encoded)"}"#) == #"{"a":"‹secret:PASS›"}"#)
    }

    /// The four spellings of a text in base64: standard, URL-safe, without padding, percent-encoded.
    private static func base64(_ text: String) throws -> [String] {
        let scope = Scope(inputs: ["t": .string(text)])
        let standard = try #require(ExpressionTests.evaluate("base64(inputs.t)", in: scope).string)
        let urlSafe = String(standard.map { $0 == "+" ? "-" : $0 == "/" ? "_" : $0 })
        let escaped = standard.map { ["/": "%2F", "+": "%2B", "=": "%3D"][$0] ?? String($0) }.joined()
        return [standard, urlSafe, String(standard.prefix { $0 != "=" }), escaped]
    }

    @Test("base64 at every alignment leaves nothing that depends on the secret", arguments: 0..<7, 0..<4)
    func base64(before: Int, after: Int) throws {
        let other = "0123456789abcdef"
        let start = String(repeating: "u", count: before)
        let end = String(repeating: "z", count: after)
        let spellings = zip(try Self.base64(start + Self.secret + end), try Self.base64(start + other + end))
        for (encoded, otherEncoded) in spellings {
            let redacted = Self.redactor.redact("Authorization: Basic \(encoded) end")
            let otherRedacted = Redactor(["PASS": other]).redact("Authorization: Basic \(otherEncoded) end")
            #expect(redacted == otherRedacted)
            #expect(redacted.hasPrefix("Authorization: Basic ") && redacted.contains("‹secret:PASS›"))
            #expect(redacted.count < "Authorization: Basic ‹secret:PASS› end".count + before * 2 + after * 2 + 8)
        }
    }

    @Test("one encoding inside the other")
    func nested() {
        let redactor = Redactor(["A": "a\"b c\"d"])
        #expect(redactor.redact("q=%22a%5C%22b%20c%5C%22d%22") == "q=%22‹secret:A›%22")
        #expect(redactor.redact(#"{"u":"http:\/\/h\/a%22b%20c%22d"}"#) == #"{"u":"http:\/\/h\/‹secret:A›"}"#)
        #expect(redactor.redact("YSJiIGMiZA%3D%3D") == "‹secret:A›%3D%3D")
    }

    @Test("hex, as sha tools and dumps print it")
    func hex() {
        #expect(Redactor(["A": "abcd"]).redact("61626364 and 616263") == "‹secret:A› and 616263")
    }

    @Test(
        "a short secret is only taken out as a whole token",
        arguments: [
            ("pin=42x", "pin=‹secret:PIN›"), ("42x", "‹secret:PIN›"), ("a42xb", "a42xb"), ("142x", "142x"),
            ("NDJ4", "‹secret:PIN›"), ("%34%32x", "‹secret:PIN›"),
            ("ä42x", "ä42x"), ("42x.", "‹secret:PIN›."),
        ])
    func short(text: String, redacted: String) {
        #expect(Self.redactor.redact(text) == redacted)
    }

    @Test("secrets that overlap or contain each other leave nothing over")
    func overlapping() {
        let redactor = Redactor(["A": "abcdef", "B": "defghi", "C": "abcdefghijk"])
        #expect(redactor.redact("abcdefghi") == "‹secret:A›")
        #expect(redactor.redact("abcdefghijk") == "‹secret:C›")
        #expect(redactor.redact("xdefghix") == "x‹secret:B›x")
    }

    @Test("the line end of a secret from a file does not matter")
    func lineEnds() {
        let redactor = Redactor(["A": "token-from-file\n"])
        #expect(redactor.redact("Bearer token-from-file!") == "Bearer ‹secret:A›!")
        #expect(redactor.redact("token-from-file\n") == "‹secret:A›")
    }

    @Test("JSON is redacted in strings, names and numbers")
    func values() {
        let redactor = Redactor(["N": "12345678", "S": "geheim"])
        let value: JSON = ["geheim!": [1, "x geheim", 12345678, nil, true], "ok": ["deep": "Z2VoZWlt"]]
        #expect(
            redactor.redact(value) == [
                "‹secret:S›!": [1, "x ‹secret:S›", "‹secret:N›", nil, true], "ok": ["deep": "‹secret:S›"],
            ])
    }

    @Test("without secrets nothing is looked for, and empty ones are none")
    func none() {
        #expect(Redactor(["A": ""]).redact("text") == "text")
        var redactor = Redactor()
        redactor.add([("S", "geheim")])
        #expect(redactor.redact("geheim") == "‹secret:S›")
    }

    @Test("a megabyte of the worst text is searched in reasonable time")
    func worst() {
        let redactor = Redactor(["A": String(repeating: "a", count: 60) + "b"])
        let text = String(repeating: "a", count: 200_000) + "%41\\u0041"
        #expect(redactor.redact(text) == text)
    }
}
