import Encodings
import Testing

@Suite("Percent-encoding") struct PercentEncodingTests {
    @Test(
        "stands for bytes; a percent sign without two hexadecimal digits stands for itself",
        arguments: [
            ("a%20b", "a b"), ("%C3%a9", "é"), ("%2B+", "++"), ("100%", "100%"), ("%4", "%4"), ("%zz%41", "%zzA"),
            ("%+1%-1", "%+1%-1"), ("e\u{301}%65", "e\u{301}e"), ("", ""),
        ])
    func decoding(text: String, plain: String) {
        #expect(PercentEncoding.decoded(text) == plain)
    }

    @Test("has blanks as plus signs in a query and a form, also before a combining mark")
    func forms() {
        #expect(PercentEncoding.formDecoded("a+b%2Bc") == "a b+c")
        #expect(PercentEncoding.formDecoded("+\u{301}").unicodeScalars.elementsEqual(" \u{301}".unicodeScalars))
    }

    @Test("of a query is undone pair by pair; a name without a value has an empty one")
    func pairs() {
        let query: Substring = "a=b%3D=c&&d+e&=f"
        #expect(PercentEncoding.pairs(query).map { [$0, $1] } == [["a", "b%3D=c"], ["d+e", ""], ["", "f"]])
        #expect(PercentEncoding.formPairs(query, limit: 2).map { [$0, $1] } == [["a", "b==c"], ["d e", ""]])
    }

    @Test("is told from a text where a percent sign stands alone")
    func strict() {
        #expect(PercentEncoding.bytes(of: "%ffa") == [0xFF, 0x61])
        for text in ["%", "%a", "%+1", "a%zz", "%é"] { #expect(PercentEncoding.bytes(of: text) == nil, "\(text)") }
    }

    @Test("of a component leaves the unreserved alone, and is undone by decoding")
    func encoding() {
        #expect(PercentEncoding.component("a-Z_0.~ /é%") == "a-Z_0.~%20%2F%C3%A9%25")
        #expect(PercentEncoding.segment("..") == "%2E%2E")
        for byte in UInt8.min...UInt8.max {
            let text = String(Unicode.Scalar(byte))
            #expect(PercentEncoding.decoded(PercentEncoding.component(text)) == text)
            #expect(PercentEncoding.formDecoded(PercentEncoding.component(text)) == text)
        }
    }
}
