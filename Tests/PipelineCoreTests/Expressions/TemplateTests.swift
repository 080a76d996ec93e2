import JSONPath
import PipelineCore
import Testing

@Suite struct TemplateTests {
    static func template(_ text: String) throws -> Template {
        try Template.parse(text, in: SourceRange(start: 0, end: text.utf8.count))
    }

    @Test(
        "values are put in as text; one expression alone keeps its type",
        arguments: [
            ("plain", "plain"), ("", ""), ("${{ inputs.count }}", 3), ("${{inputs.list}}", ["a", "b", "c"]),
            ("${{ inputs.nothing }}", nil),
            ("a ${{ inputs.count }} b", "a 3 b"), (" ${{ inputs.count }}", " 3"),
            ("${{ inputs.count }}${{ inputs.flag }}", "3true"),
            ("$${{ inputs.count }}", "${{ inputs.count }}"), ("$$${{ inputs.count }}", "$${{ inputs.count }}"),
            ("$$ $ {{ }} ${", "$$ $ {{ }} ${"),
            ("${{ '}}' }}!", "}}!"), ("${{ 'it''s }}' }}!", "it's }}!"), (#"${{ '\'}}' }}!"#, "'}}!"),
            ("${{ inputs.big }}.", "12345678901234567890."),
            ("a$${{b${{ 'c' }}", "a${{bc"), ("${{ stem(inputs.video) }}.obj", "selfie.clip.obj"),
            ("${{ {'a': {'b': 1}} }}", ["a": ["b": 1]]), ("${{{'a':1}}}", ["a": 1]), ("${{ '{' }}}", "{}"),
            ("${{\n  inputs.count\n}}", 3),
        ] as [(String, JSON)])
    func values(text: String, value: JSON) throws {
        #expect(try Self.template(text).evaluate(in: ExpressionTests.scope) == value)
    }

    @Test(
        "a template without expressions is a constant",
        arguments: [
            ("plain", "plain"), ("$${{ x }}", "${{ x }}"), ("", ""), ("${{ 'x' }}", nil), ("a${{ 1 }}", nil),
        ])
    func constants(text: String, constant: String?) throws {
        #expect(try Self.template(text).constant == constant)
    }

    @Test(
        "null, arrays and objects do not become text",
        arguments: [
            (
                "/jobs/${{ inputs.nothing }}", "inputs.nothing is null and cannot be put into a text",
                "give a default: inputs.nothing ?? ''", 10..<24
            ),
            (
                "-${{ inputs.list }}", "inputs.list is an array and cannot be put into a text",
                "inputs.list[0] is its first element; json(inputs.list) makes all of it a text", 5..<16
            ),
            ("-${{  item  }}", "item is an object and cannot be put into a text", "json(item) makes it a text", 6..<10),
        ])
    func noText(text: String, message: String, hint: String, range: Range<Int>) throws {
        let template = try Self.template(text)
        #expect(
            throws: EvaluationFailure.wrong(
                message: message, hint: hint, range: SourceRange(start: range.lowerBound, end: range.upperBound))
        ) { try template.evaluate(in: ExpressionTests.scope) }
    }

    @Test(
        "mistakes in templates point at their place",
        arguments: [
            ("ab ${{ input.x }}", "\"input\" is no known name", 7..<12),
            ("ab ${{ inputs.x", "\"${{\" is never closed", 3..<6),
            ("${{ }}", "there is no expression here", 0..<0),
            ("${{ 'a }} b", "the text that starts here is never closed", 4..<11),
            ("${{ a }} ${{", "\"a\" is no known name", 4..<5),
        ])
    func mistakes(text: String, message: String, range: Range<Int>) {
        do throws(ExpressionError) {
            _ = try Template.parse(text, in: SourceRange(start: 0, end: text.utf8.count))
            Issue.record("it was read")
        } catch {
            #expect(error.message == message)
            #expect(error.range == SourceRange(start: range.lowerBound, end: range.upperBound))
        }
    }

    @Test(
        "a plan shows secrets by name and later values by path",
        arguments: [
            ("Bearer ${{ secrets.TOKEN }}", "Bearer ‹secret:TOKEN›"),
            ("${{ 'Bearer ' + secrets.TOKEN }}", "Bearer ‹secret:TOKEN›"),
            ("${{ secrets.TOKEN ?? 'demo' }}", "‹secret:TOKEN›"),
            ("${{ base64('u:' + secrets.TOKEN) }}", "‹base64('u:' + secrets.TOKEN)›"),
            ("/v/${{ stages.later.id }}", "/v/‹stages.later.id›"), ("/v/${{ stages.upload.id }}", "/v/v1"),
            ("${{ self.later }}", "‹self.later›"),
            ("${{ stages.later.id ?? 'x' }}", "‹stages.later.id›"),
            ("${{ inputs.nothing ?? stages.later.id }}", "‹stages.later.id›"),
            ("${{ inputs.flag ? stages.later.id : 1 }}", "‹stages.later.id›"),
            ("${{ stages.later.n + 1 }}", "‹stages.later.n + 1›"),
            ("${{ urlencode(stages.later.id) }}", "‹urlencode(stages.later.id)›"), ("${{ uuid() }}", "‹uuid()›"),
            ("${{ 'a-' + uuid() }}", "a-‹uuid()›"),
            ("${{ size(inputs.video) }}", "‹size(inputs.video)›"), ("${{ inputs.list }}", "[\"a\",\"b\",\"c\"]"),
            ("${{ 1 + 1 }}", "2"),
            ("${{ item[stages.later.id] }}", "‹item[stages.later.id]›"), ("${{ 1 / 0 }}", "‹1 / 0›"),
        ])
    func describes(text: String, shown: String) throws {
        #expect(try Self.template(text).describe(in: ExpressionTests.scope) == shown)
    }

    @Test("an empty scope shows every path as it is written")
    func describesNothing() throws {
        for path in [
            "inputs.a", "stages.a.b", "self.key", "self.callbackURL", "item.x", "index", "job.id", "response.status",
            "part.size",
        ] {
            #expect(try Self.template("<${{ \(path) }}>").describe(in: Scope()) == "<‹\(path)›>")
        }
    }

    @Test("many expressions in one string are read in linear time")
    func many() throws {
        let text = String(repeating: "a${{ 1 }}", count: 20_000)
        #expect(try Self.template(text).evaluate(in: Scope()) == .string(String(repeating: "a1", count: 20_000)))
        #expect(throws: ExpressionError.self) { try Self.template(String(repeating: "${{", count: 20_000)) }
    }
}
