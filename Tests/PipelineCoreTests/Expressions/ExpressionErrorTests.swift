import JSONPath
import PipelineCore
import Testing

/// What is wrong with an expression is said with the place and how to mend it.
@Suite struct ExpressionErrorTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let text: String
        let marked: String
        let message: String
        let hint: String?
        var testDescription: String { text }

        init(_ text: String, _ marked: String, _ message: String, _ hint: String? = nil) {
            (self.text, self.marked, self.message, self.hint) = (text, marked, message, hint)
        }
    }

    static let operators =
        "the operators are + - * / ?? == != < <= > >= && || ! and ? :, and texts stand in quotes: 'text'"
    static let values = "values look like inputs.NAME, 'text', 5 or [1, 2]"
    static let roots = "inputs, env, secrets, stages, self, item, index, job, response, part, ids"

    @Test(
        "mistakes",
        arguments: [
            Case("", "", "there is no expression here", "write a value such as inputs.NAME"),
            Case("input.video", "input", "\"input\" is no known name", "did you mean \"inputs\"?"),
            Case(
                "status == 1", "status", "\"status\" is no known name",
                "\"response.status\" is the number of HTTP, \"response.body.status\" a member of the answer"),
            Case(
                "quark", "quark", "\"quark\" is no known name",
                "texts stand in quotes, 'quark'; names start with one of \(roots); a capture is stages.ID.NAME"),
            Case("now == 1", "now", "\"now\" is a function", "write now()"),
            Case("inputs", "inputs", "\"inputs\" needs a name after it", "write inputs.NAME"),
            Case(
                "inputs[item]", "[item]", "the name after \"inputs\" cannot be computed",
                "it is checked before anything is sent: write inputs.NAME"),
            Case(
                "stages.upload", "stages.upload", "\"stages.upload\" needs the name of a capture after it",
                "write stages.upload.CAPTURE"),
            Case(
                "1 + stages.upload + 1", "stages.upload", "\"stages.upload\" needs the name of a capture after it",
                "write stages.upload.CAPTURE"),
            Case("stages", "stages", "\"stages\" needs a name after it", "write stages.ID.CAPTURE"),
            Case("self == 1", "self", "\"self\" needs the name of a capture after it", "write self.CAPTURE"),
            Case(
                "job.started_at", ".started_at", "there is no \"job.started_at\"",
                "there are job.id, job.key, job.item, job.started"),
            Case(
                "response.heders", ".heders", "there is no \"response.heders\"",
                "did you mean \"response.headers\"? There are response.status, response.headers, response.body"),
            Case(
                "response", "response", "\"response\" needs a name after it",
                "there are response.status, response.headers, response.body"),
            Case("lenn('a')", "lenn", "there is no function \"lenn\"", "did you mean \"len\"?"),
            Case("length('a')", "length", "there is no function \"length\"", "did you mean \"len\"?"),
            Case(
                "replace('a', 'b')", "replace('a', 'b')", "replace takes 3 arguments, and here are 2",
                "write replace(text, old, new)"),
            Case("now(1)", "now(1)", "now takes no arguments, and here are 1", "write now()"),
            Case("len()", "len()", "len takes one argument, and here are 0", "write len(text, array or object)"),
            Case("len('a',)", ")", "a value must follow the \",\", and not \")\"", "take the \",\" out"),
            Case("inputs.a = 1", "=", "\"=\" is no part of an expression", "compare with =="),
            Case("inputs.a === 1", "===", "\"===\" is no part of an expression", "compare with =="),
            Case("inputs.a & true", "&", "\"&\" is no part of an expression", "write && for \"and\""),
            Case(
                "inputs.a?.b", "?.", "\"?.\" is no part of an expression",
                "\".\" already gives null for a missing member"),
            Case("\"text\"", "\"", "'\"' is no part of an expression", "texts stand in single quotes: 'text'"),
            Case(
                "$.id", "$", "\"$\" is no part of an expression",
                "an expression starts with a name such as inputs, stages or response; $ starts selectors, and in an answer "
                    + "$.x is response.body.x"),
            Case(
                "inputs.a and true", "and", "\"and\" is not expected here",
                "operators are written && || ! == and the function contains(…)"),
            Case("1 2", "2", "\"2\" is not expected here", "an operator such as + or == stands between two values"),
            Case("(1", "", "\")\" must follow here, to close \"(\", and not the end", "write (…)"),
            Case("len('a'", "", "\")\" must follow here, to close \"len(\", and not the end", "write len(…)"),
            Case("inputs.list[0", "", "\"]\" must follow here, to close \"[\", and not the end", "write […]"),
            Case("1)", ")", "\")\" is not expected here", "it closes nothing"),
            Case("1 +", "", "a value must stand here, and not the end", values),
            Case("* 2", "*", "a value must stand here, and not \"*\"", values),
            Case(
                "1 < 2 < 3", "<", "comparisons cannot be chained",
                "join them with &&, as in a < b && b < c, or use parentheses"),
            Case(
                "true ? 1", "?", "\":\" must follow here, and not the end",
                "a condition has two values: condition ? value : value"),
            Case(
                "1 : 2", ":", "\":\" is not expected here", "a \":\" belongs after a \"?\": condition ? value : value"),
            Case(
                "'abc", "'abc", "the text that starts here is never closed",
                "close it with '; a quote inside a text is doubled: 'it''s'"),
            Case(
                #"'\d'"#, #"\d"#, #""\d" is no escape"#,
                #"a backslash is written \\; the escapes are \' \\ \n \r \t \uXXXX"#),
            Case(
                #"'\u12'"#, #"\u12"#, #"\u must be followed by four hexadecimal digits of a character"#,
                #"like \u00e9 for é"#),
            Case(
                #"'\ud800'"#, #"\ud800"#, #"\u must be followed by four hexadecimal digits of a character"#,
                #"like \u00e9 for é"#),
            Case("30s", "30s", "\"30s\" is no number", "texts stand in quotes: '30s'"),
            Case("007", "007", "\"007\" is no number", "write it without the leading zero"),
            Case("inputs.0", ".", "a name must follow \".\"", "elements of an array stand in brackets: [0]"),
            Case("inputs.", ".", "a name must follow \".\"", "other names stand in brackets: ['a name']"),
            Case("[1, 2", "", "\"]\" must follow here, to close \"[\", and not the end", "write […]"),
            Case("[1,]", "]", "a value must follow the \",\", and not \"]\"", "take the \",\" out"),
            Case("[1 2]", "2", "\"]\" must follow here, to close \"[\", and not \"2\"", "write […]"),
            Case("{ 'a': 1", "", "\"}\" must follow here, to close \"{\", and not the end", "write {…}"),
            Case("{ 'a': 1, }", "}", "a value must follow the \",\", and not \"}\"", "take the \",\" out"),
            Case(
                "{ a: 1 }", "a", "the name of a member must stand here in quotes, and not \"a\"", "write 'a': …"),
            Case(
                "{ 'a' 1 }", "1", "\":\" must follow the name of a member, and not \"1\"", "{ 'name': value }"),
            Case("{ 'a': 1, 'a': 2 }", "'a'", "the member \"a\" is given twice", "keep one of them"),
            Case("1 }", "}", "\"}\" is not expected here", "\"${{\" and \"}}\" stand around the whole expression"),
            Case(
                "digest(inputs.video, 'sha-1')", "'sha-1'", "there is no algorithm \"sha-1\"", "did you mean \"sha1\"?"),
            Case("digest(inputs.video, 'md5', 'b64')", "'b64'", "there is no encoding \"b64\"", "one of hex, base64"),
            Case("part.digest", "part.digest", "\"part.digest\" is a function", "write part.digest('sha256', 'hex')"),
            Case(
                "digest()", "digest()", "digest takes 1 to 3 arguments, and here are 0",
                "write digest(path, algorithm, encoding)"),
            Case("undefined", "undefined", "\"undefined\" is no known name", "did you mean \"null\"?"),
            Case("inputs.a @ 1", "@", "\"@\" is no part of an expression", operators),
            Case("5 % 2", "%", "\"%\" is no part of an expression", operators),
            Case("é", "é", "\"é\" is no part of an expression", operators),
        ])
    func mistakes(of example: Case) {
        let text = example.text
        do throws(ExpressionError) {
            _ = try Expression.parse(text, in: SourceRange(start: 100, end: 100 + text.utf8.count))
            Issue.record("\(text) was read")
        } catch {
            #expect(error.message == example.message)
            #expect(error.hint == example.hint)
            let marked = Array(text.utf8)[(error.range.start - 100)..<(error.range.end - 100)]
            #expect(String(decoding: marked, as: UTF8.self).hasPrefix(example.marked))
            #expect(marked.count == example.marked.utf8.count)
        }
    }

    @Test(
        "nesting has a limit, length has none",
        arguments: ["(", "!", "-", "[x", "[", "{ 'a': ", "len(", "true ? 1 : ", "inputs.a["])
    func depth(opener: String) {
        let text = String(repeating: opener, count: 100_000)
        #expect(throws: ExpressionError.self) {
            try Expression.parse(text, in: SourceRange(start: 0, end: text.utf8.count))
        }
    }

    @Test("the deepest tree that the parser lets through is evaluated")
    func deepest() throws {
        let level = "false || true && 1 == null ?? 0 + 1 * (true ? "
        let text = String(repeating: level, count: 63) + "1" + String(repeating: " : 0)", count: 63)
        let nested = try Expression.parse(text, in: SourceRange(start: 0, end: text.utf8.count))
        #expect(throws: EvaluationFailure.self) { try nested.evaluate(in: Scope()) }
        #expect(nested.describe(in: Scope()).hasPrefix("‹"))
    }

    @Test("128 levels are read, and a sum of 100 000 terms")
    func longOnes() throws {
        let nested = String(repeating: "(", count: 127) + "1" + String(repeating: ")", count: 127)
        #expect(try ExpressionTests.evaluate(nested) == 1)
        let sum = "1" + String(repeating: " + 1", count: 99_999)
        #expect(try ExpressionTests.evaluate(sum) == 100_000)
        let path = "item" + String(repeating: ".a", count: 100_000)
        #expect(try ExpressionTests.evaluate(path) == .null)
    }
}
