import JSONPath
import PipelineCore
import Testing

@Suite struct JSONTemplateTests {
    static func parse(_ text: String) throws -> (JSONTemplate, [ExpressionError], SourceText) {
        let source = SourceText(name: "f", text: text)
        var errors: [ExpressionError] = []
        let template = JSONTemplate.parse(try JSONNode.parse(source), in: source, errors: &errors)
        return (template, errors, source)
    }

    @Test(
        "strings are templates, members with ? are left out when null",
        arguments: [
            (
                #"{"a": "${{ inputs.count }}", "b": ["${{ inputs.video }}", 1, {"c": "x${{ index }}"}]}"#,
                #"{"a":3,"b":["/in/selfie.clip.y4m",1,{"c":"x2"}]}"#
            ),
            (
                #"{"a?": "${{ inputs.nothing }}", "b?": "${{ inputs.count }}", "c": "${{ inputs.nothing }}"}"#,
                #"{"b":3,"c":null}"#
            ),
            (
                #"{"a??": null, "b???": null, "c???": 1, "d????": null, "?": 1, "e?": null}"#,
                #"{"a?":null,"c?":1,"d??":null,"":1}"#
            ),
            (#"{"${{ inputs.count }}": "$${{ }}"}"#, #"{"${{ inputs.count }}":"${{ }}"}"#),
            (#"[1.50, null, true]"#, #"[1.50,null,true]"#),
            (#""${{ item }}""#, #"{"name":"n","size":5,"count-1":9}"#),
            (#"{"a?": {"b?": "${{ null }}"}}"#, #"{"a":{}}"#),
            // Two names, though Swift takes them for equal.
            ("{\"\u{E9}\": 1, \"e\u{301}\": \"${{ inputs.count }}\"}", "{\"\u{E9}\":1,\"e\u{301}\":3}"),
        ])
    func values(text: String, value: String) throws {
        let (template, errors, _) = try Self.parse(text)
        #expect(errors.isEmpty)
        #expect(try template.evaluate(in: ExpressionTests.scope).text == value)
        let fragments = try template.fragments(in: ExpressionTests.scope)
        #expect(fragments == [.text(value)])
    }

    @Test("all mistakes are told, each at its place")
    func mistakes() throws {
        let (_, errors, source) = try Self.parse(
            #"{"a": "${{ input.x }}", "b": [{"c": "\n${{ lenn('') }}"}], "d": 1, "d?": 2}"#)
        #expect(
            errors.map(\.message) == [
                "\"input\" is no known name", "there is no function \"lenn\"", "the member \"d\" is given twice",
            ])
        let marked = errors.map { String(decoding: source.bytes[$0.range.start..<$0.range.end], as: UTF8.self) }
        #expect(marked == ["input", "lenn", "\"d?\""])
    }

    @Test("references come in the document's order; a value without any is constant")
    func references() throws {
        let (template, _, _) = try Self.parse(#"{"a": "${{ inputs.x }}", "b": ["${{ stages.s.c ?? 1 }}"]}"#)
        #expect(template.references.map(\.root) == [.input("x"), .capture(stage: "s", name: "c")])
        #expect(template.constant == nil)
        #expect(try Self.parse(#"{"a": ["$${{"], "b?": null}"#).0.constant == ["a": ["${{"]])
    }

    /// They were dropped with the string, so that a mistake among them was told only once the others were mended.
    @Test("what the right expressions of a wrong string read is told all the same")
    func referencesOfWrong() throws {
        let (template, errors, _) = try Self.parse(#"["${{ foo }} ${{ inputs.a }} ${{ 1 + }} ${{ stages.s.c }}"]"#)
        #expect(errors.map(\.message) == ["\"foo\" is no known name", "a value must stand here, and not the end"])
        #expect(template.references.map(\.root) == [.input("a"), .capture(stage: "s", name: "c")])
    }

    @Test("a plan shows what is known with its type")
    func describes() throws {
        let (template, _, _) = try Self.parse(
            #"{"n": "${{ inputs.count }}", "k": "${{ secrets.TOKEN }}", "l?": "${{ stages.later.x }}"}"#)
        #expect(
            template.describe(in: ExpressionTests.scope).text == #"{"n":3,"k":"‹secret:TOKEN›","l":"‹stages.later.x›"}"#
        )
    }

    @Test("a file of JSON Lines is left to be streamed")
    func streams() throws {
        let (template, _, _) = try Self.parse(
            #"{"requests": "${{ jsonLines('in.jsonl') }}", "x": [1, "${{ jsonLines(inputs.video) }}"], "m?": "${{ null }}"}"#
        )
        var scope = ExpressionTests.scope
        scope.baseFolder = "/base/"
        let fragments = try template.fragments(in: scope)
        #expect(
            fragments.map(\.shown) == [
                #"{"requests":"#, "lines of /base/in.jsonl", #","x":[1,"#, "lines of /in/selfie.clip.y4m", "]}",
            ])
        #expect(throws: EvaluationFailure.missing(.jsonLines("/base/in.jsonl"))) { try template.evaluate(in: scope) }
    }

    @Test("a file in base64 is left to be streamed, also in the middle of a text and behind a condition")
    func streamsBase64() throws {
        let (template, _, _) = try Self.parse(
            #"{"url": "data:\"x\";base64,${{ fileBase64('a.png') }}!", "b?": "${{ inputs.flag ? fileBase64('b') : null }}"}"#
        )
        var scope = ExpressionTests.scope
        scope.baseFolder = "/base"
        #expect(
            try template.fragments(in: scope).map(\.shown) == [
                #"{"url":"data:\"x\";base64,"#, "base64 of /base/a.png", #"!","b":""#, "base64 of /base/b", "\"}",
            ])
        #expect(throws: EvaluationFailure.missing(.base64("/base/a.png"))) { try template.evaluate(in: scope) }
        let text = try TemplateTests.template("<${{ fileBase64('a.png') }}>")
        #expect(try text.fragments(in: scope).map(\.shown) == ["<", "base64 of /base/a.png", ">"])
    }

    @Test("512 levels are no danger")
    func deep() throws {
        let text = String(repeating: "[", count: 500) + "\"${{ inputs.count }}\"" + String(repeating: "]", count: 500)
        let value = try Self.parse(text).0.evaluate(in: ExpressionTests.scope)
        #expect(value.text == String(repeating: "[", count: 500) + "3" + String(repeating: "]", count: 500))
    }
}

extension BodyFragment {
    fileprivate var shown: String {
        switch self {
        case .text(let text): text
        case .jsonLines(let path, _): "lines of \(path)"
        case .base64(let path, _): "base64 of \(path)"
        }
    }
}
