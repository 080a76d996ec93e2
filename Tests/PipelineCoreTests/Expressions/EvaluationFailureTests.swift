import JSONPath
import PipelineCore
import Testing

@Suite struct EvaluationFailureTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let text: String
        let message: String
        let hint: String?
        var testDescription: String { text }

        init(_ text: String, _ message: String, _ hint: String? = nil) {
            (self.text, self.message, self.hint) = (text, message, hint)
        }
    }

    @Test("what would be too large is an error with its place, and is not built")
    func bounds() throws {
        // Each step makes ten of one: it is written in a few bytes, and ten steps would be ten gigabytes.
        let text = (0..<9).reduce("'xxxxxxxxxx'") { text, _ in "replace(\(text), 'x', 'xxxxxxxxxx')" }
        let failure = #expect(throws: EvaluationFailure.self) { try ExpressionTests.evaluate(text) }
        #expect(failure?.message.hasSuffix("makes a text of more than 64MiB") == true)
        #expect(failure?.hint != nil)
    }

    @Test("a text of many parts, one that grows by joining, and an array of a text have their bounds too")
    func otherBounds() throws {
        var scope = ExpressionTests.scope
        scope.inputs["text"] = .string(String(repeating: "x", count: 8 << 20))
        scope.inputs["many"] = .string(String(repeating: "x", count: 1 << 20))
        scope.inputs["texts"] = .array(Array(repeating: scope.inputs["text"] ?? .null, count: 9))
        let sum = Array(repeating: "inputs.text", count: 9).joined(separator: " + ")
        for text in [
            sum, "join(inputs.texts, '')", "split(inputs.many, 'x')", "replace('xxxxxxxxx', 'x', inputs.text)",
        ] {
            let failure = #expect(throws: EvaluationFailure.self) { try ExpressionTests.evaluate(text, in: scope) }
            #expect(failure?.message.contains("of more than") == true, "\(text)")
        }
        let pieces = String(repeating: "${{ inputs.text }}", count: 9)
        let template = try Template.parse(pieces, in: SourceRange(start: 0, end: pieces.utf8.count))
        #expect(throws: EvaluationFailure.self) { try template.evaluateText(in: scope) }
    }

    /// A default was advised, with which an address was empty.
    @Test("of an object that lacks a member those that it has are named")
    func members() throws {
        let scope = Scope(item: ["href": "/x", "id": 1, "more": ["size": 3]], response: ["body": ["\n": 1]])
        func hint(_ text: String) throws -> String? {
            let expression = try Expression.parse(text, in: SourceRange(start: 0, end: text.utf8.count))
            let failure = #expect(throws: EvaluationFailure.self) { try expression.evaluateText(in: scope) }
            return failure?.hint
        }
        #expect(try hint("item.url") == #"item has "href", "id", "more"; or give a default: item.url ?? ''"#)
        #expect(try hint("item.more.length") == #"item.more has "size"; or give a default: item.more.length ?? ''"#)
        #expect(try hint("item['a'].b") == #"item has "href", "id", "more"; or give a default: item['a'].b ?? ''"#)
        #expect(try hint("response.body.id") == #"response.body has "\n"; or give a default: response.body.id ?? ''"#)
        #expect(try hint("lower(item.url)") == #"item has "href", "id", "more"; or give a default: item.url ?? ''"#)
    }

    @Test(
        "values that do not fit are named with the path",
        arguments: [
            Case(
                "stages.upload.none + 1", "stages.upload.none is null where a number is needed",
                "give a default: stages.upload.none ?? 0"),
            Case(
                "'a' + stages.upload.none", "stages.upload.none is null where a text is needed",
                "give a default: stages.upload.none ?? ''"),
            Case(
                "lower(inputs.nothing)", "inputs.nothing is null where a text for lower(…) is needed",
                "give a default: inputs.nothing ?? ''"),
            Case(
                "lower(inputs.count)", "inputs.count is a number where a text for lower(…) is needed",
                "string(inputs.count) makes it a text"),
            Case("len(5)", "5 is a number where a text, an array or an object for len(…) is needed"),
            Case("'a' + 1", "1 is a number where a text is needed", "string(1) makes it a text"),
            Case(
                "1 + 'a'", "'a' is a string where a number is needed",
                "number('a') makes it a number; to join texts, make the others texts too with string(…)"),
            Case("1 * 'a'", "'a' is a string where a number is needed", "number('a') makes it a number"),
            Case("'a' - 'b'", "'a' is a string where a number is needed", "number('a') makes it a number"),
            Case("'a' + 'b' - 'c'", "\"-\" works on numbers, and a text stands left of it"),
            Case("1 / 0", "a division by zero"),
            Case("1 / 0.0", "a division by zero"),
            Case(
                "9223372036854775807 + 1", "the result of \"+\" is too large",
                "whole numbers go up to 9223372036854775807"),
            Case(
                "9223372036854775807 * 2", "the result of \"*\" is too large",
                "whole numbers go up to 9223372036854775807"),
            Case(
                "inputs.big + 1", "inputs.big is too large to compute with",
                "whole numbers go up to 9223372036854775807"),
            Case("1.5e308 * 10", "the result of \"*\" is too large"),
            Case("1 < 'a'", "\"<\" cannot compare a number with a string", "number('a') makes it a number"),
            Case("'5' >= 4", "\">=\" cannot compare a number with a string", "number('5') makes it a number"),
            Case(
                "inputs.nothing < 5", "inputs.nothing is null where a number is needed",
                "give a default: inputs.nothing ?? 0"),
            Case("inputs.list < 5", "inputs.list is an array where a number is needed"),
            Case(
                "!inputs.video", "inputs.video is a string where true or false is needed",
                "compare it: inputs.video != ''"),
            Case(
                "inputs.nothing ? 1 : 2", "inputs.nothing is null where true or false is needed",
                "give a default: inputs.nothing ?? false"),
            Case(
                "inputs.flag && inputs.list", "inputs.list is an array where true or false is needed",
                "ask for what is in it: len(inputs.list) > 0"),
            Case(
                "item.size-1 + 0", "item.size-1 is null where a number is needed",
                "\"-\" inside a name belongs to the name; a subtraction needs spaces around it"),
            Case("inputs.list[1.5]", "1.5 cannot count elements", "only whole numbers can"),
            Case("inputs.list[null]", "null is null where a name or a whole number is needed"),
            Case("replace('a', '', 'b')", "'' is empty: there is nothing to replace"),
            Case("split('a', '')", "'' is empty: there is nothing to split at"),
            Case("join('a', '')", "'a' is a string where an array for join(…) is needed"),
            Case("join(parse('[1,null]'), '')", "element 1 of parse('[1,null]') is null, which cannot be joined"),
            Case("parse('{')", "'{' is not JSON: at byte 1, the object that begins at byte 0 is not closed"),
            Case("number('abc')", "'abc' is a text that is no number"),
            Case("number('')", "'' is a text that is no number"),
            Case("number('1 2')", "'1 2' is a text that is no number"),
            Case("string(null)", "null is null where a value for string(…) is needed", "give a default: null ?? ''"),
            Case("size('')", "'' is no path: it is empty or holds a NUL"),
            Case("size(5)", "5 is a number where a text for size(…) is needed", "string(5) makes it a text"),
        ])
    func wrong(of example: Case) throws {
        let expression = try Expression.parse(example.text, in: SourceRange(start: 7, end: 7 + example.text.utf8.count))
        do throws(EvaluationFailure) {
            Issue.record("it is \(try expression.evaluate(in: ExpressionTests.scope))")
        } catch {
            guard case .wrong(let message, let hint, let range) = error else { throw error }
            if example.text != "parse('{')" {
                #expect(message == example.message)
                #expect(hint == example.hint)
            } else {
                #expect(message.hasPrefix("'{' is not JSON: at byte 1, "))
            }
            #expect(range.start >= 7 && range.end <= 7 + example.text.utf8.count && range.start < range.end)
        }
    }

    @Test(
        "roots that are not there say where they are",
        arguments: [
            ("item.x", "\"item\" is only known inside a stage with forEach"),
            ("index", "\"index\" is only known inside a stage with forEach"),
            ("response.status", "\"response\" is only known where an answer is judged"),
            ("part.size", "\"part\" is only known in the request for a part of an upload"),
            ("job.id", "\"job\" is only known while a job runs"),
        ])
    func absentRoots(text: String, message: String) {
        #expect(
            throws: EvaluationFailure.wrong(
                message: message, hint: nil, range: SourceRange(start: 0, end: text.utf8.count))
        ) { try ExpressionTests.evaluate(text, in: Scope()) }
    }

    @Test("a missing secret is no mistake but a reason to wait")
    func secrets() {
        #expect(throws: EvaluationFailure.missingSecret("NONE")) {
            try ExpressionTests.evaluate("'Bearer ' + secrets.NONE")
        }
        #expect(throws: EvaluationFailure.missingSecret("NONE")) {
            try ExpressionTests.evaluate("lower(secrets.NONE) ?? ''")
        }
        let failure = EvaluationFailure.missingSecret("NONE")
        #expect(failure.message == "the secret NONE is not set")
        #expect(failure.hint == "set PIPELINE_SECRET_NONE, or put NONE=… into a file for --secrets-file")
    }

    @Test("what needs the outside is asked for, one fact after the other")
    func facts() throws {
        let text = "size('a.mp4') + size('/b') > 0 ? now() + uuid() : uuid()"
        let expression = try Expression.parse(text, in: SourceRange(start: 50, end: 50 + text.utf8.count))
        var scope = Scope(baseFolder: "/videos")
        var asked: [Fact] = []
        let answers: [JSON] = [1, 2, "2026-11-20T12:00:00.000Z", "-u"]
        for answer in answers {
            do throws(EvaluationFailure) {
                _ = try expression.evaluate(in: scope)
                Issue.record("no fact was asked for")
            } catch {
                guard case .missing(let fact) = error else { throw error }
                asked.append(fact)
                scope.facts[fact] = answer
            }
        }
        #expect(asked == [.size("/videos/a.mp4"), .size("/b"), .now(place: "83"), .uuid(place: "91")])
        #expect(try expression.evaluate(in: scope) == "2026-11-20T12:00:00.000Z-u")
    }

    @Test("each place has its own uuid, and the same place the same")
    func places() throws {
        func place(_ text: String, at start: Int) throws -> Fact? {
            let expression = try Expression.parse(text, in: SourceRange(start: start, end: start + text.utf8.count))
            do { _ = try expression.evaluate(in: Scope()) } catch { if case .missing(let fact) = error { return fact } }
            return nil
        }
        #expect(try place("uuid()", at: 10) == .uuid(place: "10"))
        #expect(try place("uuid()", at: 10) == place("uuid()", at: 10))
        #expect(try place("uuid()", at: 10) != place("uuid()", at: 11))
    }
}
