import JSONPath
import PipelineCore
import Testing

@Suite struct SelectorTests {
    static let answer = ServiceResponse(
        status: 201,
        headers: [
            ("Content-Type", "application/json"), ("location", "../jobs/7"), ("Link", "<a>"), ("LINK", "<b>"),
            ("Operation-Location", "https://o/x"), ("X-Null", ""),
        ],
        url: "http://user:pw@h:1/v1/submit?sig=s3cret#f",
        body: Array(
            #"{"id": "j1", "state": ["RUNNING", "REQUEUED"], "none": null, "n": 1.50, "files": [{"url": "a/b"}, {"url": "/c"}], "a/b": {"~": 3}, "log": "10%\n35%"}"#
                .utf8),
        items: [["url": "u1"], ["url": "u2"]])

    /// Reads a selector in any of its JSON forms.
    static func selector(_ text: String) throws -> Selector {
        let source = SourceText(name: "f", text: text)
        var errors: [SelectorError] = []
        let selector = Selector.parse(try JSONNode.parse(source), in: source, errors: &errors)
        if let error = errors.first { throw error }
        return try #require(selector)
    }

    @Test(
        "values",
        arguments: [
            (#""$.id""#, "j1"), (#""$.none""#, nil), (#""$.n""#, 1.5), (#""$.absent?""#, nil),
            (#""$.files[*].url[]""#, ["a/b", "/c"]),
            (#""$.absent[*][]""#, []), (#""$.absent[]?""#, nil), (#""$.files[0].url""#, "a/b"),
            (#""$.files[?@.url == '/c'].url""#, "/c"),
            (#""/id""#, "j1"), (#""/a~1b/~0""#, 3), (#""/files/1/url""#, "/c"),
            (#""header:content-type""#, "application/json"), (#""header:X-None?""#, nil),
            (#""header:Link[]""#, ["<a>", "<b>"]), (#""header:X-Null""#, ""),
            (#""header:Location""#, "http://user:pw@h:1/jobs/7"),
            (#""header:operation-location""#, "https://o/x"), (#""header:Content-Location?""#, nil),
            (#""status""#, 201),
            (#""url""#, "http://user:pw@h:1/v1/submit?sig=s3cret#f"), (#""regex:(\\d+)%""#, "10"),
            (#""regex:\"id\": *\"[^\"]*\"""#, #""id": "j1""#),
            (#""$items[*].url[]""#, ["u1", "u2"]), (#""$items[0].url""#, "u1"),
            (#""$items""#, [["url": "u1"], ["url": "u2"]]),
            (#"{"select": "$.files[0].url", "url": true}"#, "http://user:pw@h:1/v1/a/b"),
            (
                #"{"select": "$.files[*].url", "url": true, "all": true}"#,
                ["http://user:pw@h:1/v1/a/b", "http://user:pw@h:1/c"]
            ),
            (#"{"select": "/absent", "optional": true}"#, nil),
            (#"{"select": "regex:(\\d+)%", "all": true}"#, ["10", "35"]),
            (#"{"select": "$.id", "secret": true, "x-note": 1}"#, "j1"),
            (#"{"$schema": "selector.json", "select": "$.id"}"#, "j1"),
            (#"{"select": "header:Location", "url": false}"#, "../jobs/7"),
            (#"["$.absent", "$.id"]"#, "j1"), (#"["$.none", "$.id"]"#, "j1"), (#"["$.none", "$.absent"]"#, nil),
            (#"["$.absent?", "header:X-None"]"#, nil),
            (#"["header:Azure-AsyncOperation", "header:Operation-Location", "header:Location"]"#, "https://o/x"),
            (#"[{"select": "/absent", "optional": true}, "$.id"]"#, "j1"),
            (#"{"select": ["/absent", "/x"], "optional": true}"#, nil),
            (#"["$.absent[]", "$.none?"]"#, nil),
        ] as [(String, JSON)])
    func values(text: String, value: JSON) throws {
        #expect(try Self.selector(text).value(in: Self.answer) == value)
    }

    @Test(
        "an answer that can't be read is said to be that, though nothing need be there",
        arguments: [
            #""$.a?""#, #""$.a[]?""#, #"["$.a?", "$.b?"]"#, #"["$.a?", "header:X-None?"]"#,
            #"{"select": "/a", "optional": true}"#, #"{"select": ["/a", "$.b"], "optional": true}"#,
        ])
    func unreadable(text: String) throws {
        let selector = try Self.selector(text)
        let deep = String(repeating: "[", count: 600) + String(repeating: "]", count: 600)
        for body in ["<html><body>502</body></html>", deep] {
            let answer = ServiceResponse(status: 200, url: "http://h", body: Array(body.utf8))
            let failure = #expect(throws: CaptureFailure.self) { try selector.value(in: answer) }
            #expect(failure?.finding.contains("the body is not JSON") == true)
        }
        // Nothing is nothing.
        let empty = ServiceResponse(status: 204, url: "http://h")
        #expect([.null, []].contains(try selector.value(in: empty)))
    }

    @Test("of a list, what another of its selectors finds counts where one can't read the answer")
    func readable() throws {
        let answer = ServiceResponse(
            status: 200, headers: [("X-ID", "7")], url: "http://h", body: Array("<html>".utf8))
        #expect(try Self.selector(#"["$.id?", "header:X-ID?"]"#).value(in: answer) == "7")
    }

    @Test(
        "what does not match says what was looked for, where, and how to mend it",
        arguments: [
            (#""$.absent""#, "$.absent matches nothing", "write \"$.absent?\" if it may be missing"),
            (
                #""$.files[*].url""#, "$.files[*].url matches more than one value",
                "choose one, or write \"$.files[*].url[]\" for the array of all"
            ),
            (
                #""header:Link""#, "header:Link matches more than one value",
                "choose one, or write \"header:Link[]\" for the array of all"
            ),
            (#""header:Nope""#, "header:Nope matches nothing", "write \"header:Nope?\" if it may be missing"),
            (#""/nope""#, "/nope matches nothing", "set \"optional\": true if it may be missing"),
            (#""regex:zzz""#, "regex:zzz matches nothing", "set \"optional\": true if it may be missing"),
            (#"["$.absent", "header:Nope"]"#, "$.absent or header:Nope matches nothing", nil),
            (#"{"select": "$.n", "url": true}"#, "$.n is a number where a URL is expected", nil),
            (
                #""xml:/A""#,
                "xml:/A cannot be looked up: the body is not XML that is read here (at byte 0, text stands outside of the element)",
                "look at what was sent: is the path right? \"text\" and \"regex:…\" take values out of any text"
            ),
        ])
    func failures(text: String, finding: String, hint: String?) throws {
        let selector = try Self.selector(text)
        do throws(CaptureFailure) {
            Issue.record("it is \(try selector.value(in: Self.answer))")
        } catch {
            #expect(error.finding == finding)
            #expect(error.hint == hint)
            #expect(error.answer == "the answer 201 of http://h:1/v1/submit?…")
        }
    }

    @Test("a body that is no JSON is told from one that lacks the value")
    func bodies() throws {
        let page = ServiceResponse(
            status: 502, url: "http://h/p",
            body: Array("<html>Bad Gateway".utf8))
        let failure = #expect(throws: CaptureFailure.self) { try Self.selector(#""$.id""#).value(in: page) }
        #expect(failure?.finding.hasPrefix("$.id cannot be looked up: the body is not JSON (at byte 0, ") == true)
        let empty = ServiceResponse(status: 204, url: "http://h/p")
        let nothing = #expect(throws: CaptureFailure.self) { try Self.selector(#""$.id""#).value(in: empty) }
        #expect(nothing?.sentence == "$.id matches nothing in the answer 204 of http://h/p")
        #expect(try Self.selector(#""$.id?""#).value(in: empty) == .null)
        #expect(try Self.selector(#""$.id[]""#).value(in: empty) == [])
        #expect(throws: CaptureFailure.self) { try Self.selector(#""$.id?""#).value(in: page) }
        #expect(throws: CaptureFailure.self) { try Self.selector(#""$.id[]""#).value(in: page) }
        let noPages = #expect(throws: CaptureFailure.self) { try Self.selector(#""$items[0]""#).value(in: page) }
        #expect(noPages?.finding == "$items[0] cannot be looked up: there are no pages")
    }

    @Test(
        "a poll's selectors are lenient: none is null, several are an array",
        arguments: [
            (#""$.state""#, ["RUNNING", "REQUEUED"]), (#""$.state[*]""#, ["RUNNING", "REQUEUED"]),
            (#""$.absent""#, nil), (#""$.id""#, "j1"),
            (#""regex:(\\d+)%""#, ["10", "35"]), (#""regex:nope""#, nil), (#""xml:/A""#, nil), (#""status""#, 201),
            (#"["$.absent", "$.id"]"#, "j1"),
            (#""header:Link""#, ["<a>", "<b>"]), (#"{"select": "$.n", "url": true}"#, nil), (#""$.id[]""#, ["j1"]),
            (#""$items[*].url""#, ["u1", "u2"]),
        ] as [(String, JSON)])
    func lenient(text: String, value: JSON) throws {
        #expect(try Self.selector(text).lenientValue(in: Self.answer) == value)
    }

    @Test(
        "mistakes point and teach",
        arguments: [
            (#""id""#, "id", "\"id\" is no selector", "did you mean \"$.id\"? A selector is"),
            (
                #""headers:Location""#, "headers:Location", "\"headers:Location\" is no selector",
                "did you mean \"header:Location\"?"
            ),
            (#""Status""#, "Status", "\"Status\" is no selector", "did you mean \"status\"?"),
            (
                #""${{ inputs.x }}""#, "${{ inputs.x }}", "\"${{ inputs.x }}\" is no selector",
                "selectors hold no expressions; a selector is"
            ),
            (
                #""x ${{ y }}""#, "x ${{ y }}", "\"x ${{ y }}\" is no selector",
                "selectors hold no expressions; a selector is"
            ),
            (#""state""#, "state", "\"state\" is no selector", "did you mean \"$.state\", a member of a JSON body"),
            (#"5"#, "5", "a selector cannot be a number", "a selector is"),
            (#"[]"#, "[]", "this list of selectors is empty", "a selector is"),
            (#"["$.a", ["$.b"]]"#, "[\"$.b\"]", "a selector cannot be an array", "a selector is"),
            (
                #"{"select": "$.a", "optinal": true}"#, "\"optinal\"", "a selector has no key \"optinal\"",
                "did you mean \"optional\"?"
            ),
            (
                #"{"optional": true}"#, "{\"optional\": true}", "\"select\" is missing",
                "write { \"select\": \"$.name\", … }"
            ), (#"{"select": "$.a", "all": 1}"#, "1", "\"all\" must be true or false", "write \"all\": true"),
            (#""header:a b""#, "header:a b", "\"a b\" is no name of a header", "write it as in header:Location"),
            (#""header:?""#, "header:?", "\"\" is no name of a header", "write it as in header:Location"),
            (
                #""xml:A/B""#, "xml:A/B", "\"A/B\" is no way to an element",
                "write the names from the root: xml:/Result/ETag"
            ),
            (
                #""xml:/A/B?[]""#, "xml:/A/B?[]", "\"/A/B?[]\" is no way to an element",
                "? and [] are for $ and header: alone; write { \"select\": \"xml:/A/B\", \"optional\": true, \"all\": true }"
            ), (#""xml:/A//B""#, "xml:/A//B", "\"/A//B\" is no way to an element", nil),
            (#""/a~2""#, nil, nil, nil), (#""regex:(""#, nil, nil, nil),
            (#""$.a[""#, nil, nil, "a JSONPath looks like \"$.name\""),
            (#""$.a??""#, nil, nil, nil), (#""""#, "", "\"\" is no selector", "a selector is"),
        ] as [(String, String?, String?, String?)])
    func mistakes(text: String, marked: String?, message: String?, hint: String?) throws {
        let source = SourceText(name: "f", text: text)
        var errors: [SelectorError] = []
        #expect(Selector.parse(try JSONNode.parse(source), in: source, errors: &errors) == nil)
        let error = try #require(errors.first)
        if let message { #expect(error.message == message) }
        if let hint { #expect(error.hint?.hasPrefix(hint) == true) }
        if let marked {
            #expect(String(decoding: source.bytes[error.range.start..<error.range.end], as: UTF8.self) == marked)
        }
        #expect(error.range.end <= source.bytes.count && error.range.start <= error.range.end)
    }

    @Test("an error inside a query points past the escapes of its string")
    func places() throws {
        let source = SourceText(name: "f", text: #""$['\u00e9'].a[""#)
        var errors: [SelectorError] = []
        _ = Selector.parse(try JSONNode.parse(source), in: source, errors: &errors)
        #expect(try #require(errors.first).range.start >= 14)
    }

    @Test("captures keep their order, name what fails, and tell which are secret")
    func captures() throws {
        let source = SourceText(
            name: "f", text: #"{"b": "$.id", "a": {"select": "status", "secret": true}, "key": "$.n"}"#)
        var errors: [SelectorError] = []
        let captures = CaptureSet.parse(try JSONNode.parse(source), in: source, errors: &errors)
        #expect(errors.isEmpty)
        #expect(captures.names == ["b", "a", "key"])
        #expect(captures.secrets.map(\.name) == ["a"])
        #expect(try captures.values(in: Self.answer).names == ["b", "a", "key"])
        #expect(try captures.values(in: Self.answer) == ["b": "j1", "a": 201, "key": 1.5])
        let failure = #expect(throws: CaptureFailure.self) {
            try captures.values(in: ServiceResponse(status: 200, url: "http://h", body: Array("{}".utf8)))
        }
        #expect(failure?.sentence == "the capture \"b\": $.id matches nothing in the answer 200 of http://h")
    }

    @Test("all mistakes of a set of captures are told")
    func captureMistakes() throws {
        let source = SourceText(name: "f", text: #"{"a": "id", "b": "$.ok", "": "$.x", "c": 7}"#)
        var errors: [SelectorError] = []
        let captures = CaptureSet.parse(try JSONNode.parse(source), in: source, errors: &errors)
        #expect(
            errors.map(\.message) == [
                "\"id\" is no selector", "a capture needs a name", "a selector cannot be a number",
            ])
        #expect(captures.names == ["b", ""])
        errors = []
        _ = CaptureSet.parse(try JSONNode.parse(SourceText(name: "f", text: "[]")), in: nil, errors: &errors)
        #expect(errors.map(\.message) == ["captures are an object of names and selectors, not an array"])
    }

    @Test("expressions see an answer as status, headers and body")
    func response() throws {
        let value = Self.answer.responseValue
        #expect(value["status"] == 201)
        #expect(value["headers"]?["Link"] == "<a>, <b>")
        #expect(value["body"]?["id"] == "j1")
        #expect(ServiceResponse(status: 200, url: "u", body: Array("plain".utf8)).responseValue["body"] == "plain")
        #expect(ServiceResponse(status: 204, url: "u").responseValue["body"] == .null)
        #expect(try ExpressionTests.evaluate("response.headers['LINK']", in: Scope(response: value)) == "<a>, <b>")
    }

    @Test("regular expressions stay linear, and so does looking for all of their matches")
    func linear() throws {
        let text = String(repeating: "a", count: 20_000)
        let answer = ServiceResponse(status: 200, url: "http://h", body: Array(text.utf8))
        #expect(try Self.selector(#"{"select": "regex:(a*)*b", "optional": true}"#).value(in: answer) == .null)
        let all = try Self.selector(#"{"select": "regex:b*", "all": true}"#).value(
            in: ServiceResponse(status: 200, url: "u", body: Array("aba".utf8)))
        #expect(all == ["", "b", "", ""] || all == ["", "b", ""])
    }
}
