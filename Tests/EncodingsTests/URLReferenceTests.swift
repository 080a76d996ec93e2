import Encodings
import Testing

@Suite struct URLReferenceTests {
    /// RFC 3986, sections 5.4.1 and 5.4.2; the last in its strict form.
    @Test(
        "the examples of RFC 3986",
        arguments: [
            ("g:h", "g:h"), ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"),
            ("/g", "http://a/g"),
            ("//g", "http://g"), ("?y", "http://a/b/c/d;p?y"), ("g?y", "http://a/b/c/g?y"),
            ("#s", "http://a/b/c/d;p?q#s"),
            ("g#s", "http://a/b/c/g#s"), ("g?y#s", "http://a/b/c/g?y#s"), (";x", "http://a/b/c/;x"),
            ("g;x", "http://a/b/c/g;x"),
            ("g;x?y#s", "http://a/b/c/g;x?y#s"), ("", "http://a/b/c/d;p?q"), (".", "http://a/b/c/"),
            ("./", "http://a/b/c/"),
            ("..", "http://a/b/"), ("../", "http://a/b/"), ("../g", "http://a/b/g"), ("../..", "http://a/"),
            ("../../", "http://a/"),
            ("../../g", "http://a/g"), ("../../../g", "http://a/g"), ("../../../../g", "http://a/g"),
            ("/./g", "http://a/g"),
            ("/../g", "http://a/g"), ("g.", "http://a/b/c/g."), (".g", "http://a/b/c/.g"), ("g..", "http://a/b/c/g.."),
            ("..g", "http://a/b/c/..g"), ("./../g", "http://a/b/g"), ("./g/.", "http://a/b/c/g/"),
            ("g/./h", "http://a/b/c/g/h"),
            ("g/../h", "http://a/b/c/h"), ("g;x=1/./y", "http://a/b/c/g;x=1/y"), ("g;x=1/../y", "http://a/b/c/y"),
            ("g?y/./x", "http://a/b/c/g?y/./x"), ("g?y/../x", "http://a/b/c/g?y/../x"),
            ("g#s/./x", "http://a/b/c/g#s/./x"),
            ("g#s/../x", "http://a/b/c/g#s/../x"), ("http:g", "http:g"),
        ])
    func examples(reference: String, url: String) {
        #expect(URLReference.resolve(reference, against: "http://a/b/c/d;p?q") == url)
    }

    /// A mark makes one Character with the delimiter before it.
    @Test("delimiters count whatever stands behind them")
    func marks() {
        let whole = URLReference("http://h\u{301}/\u{301}a?\u{301}q#\u{301}f")
        #expect(whole.authority == "h\u{301}" && whole.path.unicodeScalars.first == "/")
        #expect(whole.query == "\u{301}q" && whole.fragment == "\u{301}f")
        #expect(URLReference("//\u{301}h/x").authority == "\u{301}h")
        #expect(
            URLReference.resolve("../\u{301}g", against: "http://a/b/c/d;p?q")?.unicodeScalars.elementsEqual(
                "http://a/b/\u{301}g".unicodeScalars) == true)
        #expect(
            URLReference.resolve("/\u{301}g", against: "http://a/b?\u{301}q")?.unicodeScalars.elementsEqual(
                "http://a/\u{301}g".unicodeScalars) == true)
    }

    @Test(
        "what servers send",
        arguments: [
            ("/jobs/1", "http://h:8787/v1/jobs", "http://h:8787/jobs/1"), ("1", "http://h", "http://h/1"),
            (" /a\n", "http://h/b", "http://h/a"),
            ("https://o/x?sig=a%2Fb/../c", "http://h/b", "https://o/x?sig=a%2Fb/../c"),
            ("?page=2", "http://h/l?page=1#f", "http://h/l?page=2"),
            ("a:b", "http://h/", "a:b"), ("./a:b", "http://h/", "http://h/a:b"), ("1:2", "http://h/", "http://h/1:2"),
            ("//[::1]:80/x", "https://h/", "https://[::1]:80/x"), ("a//b/../c", "http://h/x/", "http://h/x/a//c"),
        ])
    func servers(reference: String, base: String, url: String) {
        #expect(URLReference.resolve(reference, against: base) == url)
    }

    @Test("a base without a scheme resolves nothing")
    func relativeBase() {
        #expect(URLReference.resolve("a", against: "/b") == nil)
        #expect(URLReference.resolve("a", against: "") == nil)
    }

    @Test(
        "splitting and joining changes nothing",
        arguments: [
            "http://u:p@h:1/a/b?c=d?e#f#g", "//h", "/a", "?", "#", "", "mailto:a@b", "http://", "a/b:c", "urn:x:y?z",
        ])
    func parts(text: String) {
        #expect(URLReference(text).text == text)
    }
}
