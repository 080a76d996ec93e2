import JSONPath
import PipelineCore
import Testing

/// XML as object stores answer, and as nobody should be able to harm us with.
@Suite struct XMLPathTests {
    static func find(_ path: String, _ xml: String) throws -> JSON {
        let text = "xml:\(path)"
        let node = JSONNode(
            range: SourceRange(start: 0, end: 0),
            content: .object([
                .init(
                    name: "select", nameRange: SourceRange(start: 0, end: 0),
                    value: JSONNode(range: SourceRange(start: 0, end: 0), content: .string(text))),
                .init(
                    name: "all", nameRange: SourceRange(start: 0, end: 0),
                    value: JSONNode(range: SourceRange(start: 0, end: 0), content: .bool(true))),
            ]))
        var errors: [SelectorError] = []
        let selector = try #require(Selector.parse(node, in: nil, errors: &errors))
        return try selector.value(in: ServiceResponse(status: 200, url: "http://h/", body: Array(xml.utf8)))
    }

    @Test(
        "texts of elements by their way from the root",
        arguments: [
            ("/A", "<A>x</A>", ["x"]), ("/A/B", "<A><B>1</B><C><B>no</B></C><B> 2 \n</B></A>", ["1", "2"]),
            ("/A/B", "<A/>", []),
            ("/A/B", "<A><B/></A>", [""]), ("/B", "<A><B>1</B></A>", []), ("/A", "<A>1<B>2</B>3</A>", ["123"]),
            ("/A/A", "<A><A>x<A>y</A></A></A>", ["xy"]), ("/A/B", "<A><X><B>0</B></X><B>1</B></A>", ["1"]),
            (
                "/R/ETag",
                "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<R xmlns=\"http://s3/\"><ETag>&quot;a-1&quot;</ETag></R>\n",
                ["\"a-1\""]
            ),
            ("/s:R/s:Key", "<t:R xmlns:t=\"u\" a='>'><t:Key x = \"/\" >k</t:Key></t:R>", ["k"]),
            ("/A", "<A><![CDATA[<&]]>&amp;&#233;&#x1F600;</A>", ["<&&é😀"]),
            ("/A", "<!-- <A> --><A><!-- n -->v<?php x?></A><!-- -->", ["v"]),
            ("/A-b.c/É", "<A-b.c><É>1</É></A-b.c>", ["1"]),
            ("/A", "\u{FEFF}<A>b</A>", ["b"]),
        ] as [(String, String, [String])])
    func texts(path: String, xml: String, texts: [String]) throws {
        #expect(try Self.find(path, xml) == .array(texts.map(JSON.string)))
    }

    @Test(
        "what is no XML, or unsafe, is refused with the reason",
        arguments: [
            ("<A>", "the element <A> is never closed"), ("", nil), ("text", "text stands outside of the element"),
            ("<A></B>", "</B> stands where </A> must"),
            ("<A/><B/>", "there is more than one root element"),
            ("<A>&nope;</A>", "&nope; is not known: only the five entities of XML and character references are"),
            (
                "<!DOCTYPE a [<!ENTITY x SYSTEM \"file:///etc/passwd\">]><a>&x;</a>",
                "a document type is not read, as it could define or fetch anything"
            ),
            ("<A>&#0;</A>", "&#0; is not known: only the five entities of XML and character references are"),
            ("<A>& </A>", "\"&\" starts no character reference"),
            ("<A b></A>", "an attribute has no value in quotes"),
            ("<A b=\"></A>", "an attribute's value is never closed"), ("<A", "the tag <A> is never closed"),
            ("<!-- ", "a comment is never closed"), ("</A>", "</A> closes nothing"),
            ("<>", "an element's name is missing"), ("   ", "there is no element"),
            ("<?xml version='1.0' encoding='ISO-8859-1'?><A/>", "the encoding ISO-8859-1 is not read, only UTF-8"),
            (String(repeating: "<a>", count: 100_000), "elements are nested deeper than 512"),
        ] as [(String, String?)])
    func refuses(xml: String, reason: String?) throws {
        guard let reason else {
            #expect(try Self.find("/A", xml) == [])
            return
        }
        do {
            Issue.record("it is \(try Self.find("/A", xml))")
        } catch let failure as CaptureFailure {
            #expect(
                failure.finding.hasPrefix("xml:/A cannot be looked up: the body is not XML that is read here (at byte ")
            )
            #expect(failure.finding.hasSuffix(", \(reason))"))
        }
    }
}
