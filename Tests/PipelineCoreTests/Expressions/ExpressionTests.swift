import JSONPath
import PipelineCore
import Testing

/// Expressions and what they give in one scope.
@Suite struct ExpressionTests {
    static let scope = Scope(
        inputs: [
            "video": "/in/selfie.clip.y4m", "count": 3, "big": .number(JSONNumber(literal: "12345678901234567890")),
            "flag": true, "nothing": nil, "rate": 2.5, "list": ["a", "b", "c"], "x-api-key": "k",
        ],
        env: ["HOST": "h", "UNSET": nil as String?],
        secrets: ["TOKEN": "t0p"],
        stages: [
            "upload": ["id": "v1", "tags": ["x": ["y": 7]], "none": nil, "my-name": "dash"],
            "my-stage": ["url": "http://u"],
            "skipped": nil,
        ],
        own: ["id": 42, "parts": ["etag": ["e1", "e2"]]], ownKey: "key-1", callbackURL: nil,
        item: ["name": "n", "size": 5, "count-1": 9], index: 2,
        job: .init(id: "01j", key: "k1", started: Timestamp(milliseconds: 0)),
        response: [
            "status": 200, "headers": ["Content-Type": "text/plain", "ETag": "\"e\""], "body": ["state": "done"],
        ],
        part: ["number": 1, "offset": 0, "size": 8])

    static func evaluate(_ text: String, in scope: Scope = scope) throws -> JSON {
        try Expression.parse(text, in: SourceRange(start: 0, end: text.utf8.count)).evaluate(in: scope)
    }

    @Test(
        "roots and members",
        arguments: [
            ("inputs.video", "/in/selfie.clip.y4m"), ("inputs['video']", "/in/selfie.clip.y4m"),
            ("inputs.x-api-key", "k"),
            ("inputs.missing", nil), ("inputs.list[0]", "a"), ("inputs.list[-1]", "c"), ("inputs.list[3]", nil),
            ("inputs.list[-4]", nil), ("inputs.list[index]", "c"), ("inputs.list['0']", nil),
            ("inputs.video.name", nil),
            ("inputs.nothing.deeper[1].still", nil), ("env.HOST", "h"), ("env.UNSET", nil), ("env.UNKNOWN", nil),
            ("secrets.TOKEN", "t0p"), ("stages.upload.id", "v1"), ("stages.upload.tags.x['y']", 7),
            ("stages.upload.my-name", "dash"), ("stages.my-stage.url", "http://u"),
            ("stages['my-stage']['url']", "http://u"),
            ("stages.skipped.id", nil), ("stages.later.id", nil), ("stages.upload['i' + 'd']", "v1"), ("self.id", 42),
            ("self.key", "key-1"), ("self.callbackURL", nil), ("self.parts.etag[1]", "e2"),
            ("item", ["name": "n", "size": 5, "count-1": 9]),
            ("item.name", "n"), ("item.count-1", 9), ("item.size - 1", 4), ("item.size -1", 4), ("index", 2),
            ("index-1", 1),
            ("job.id", "01j"), ("job.key", "k1"), ("job.started", "1970-01-01T00:00:00.000Z"), ("response.status", 200),
            ("response.headers['content-TYPE']", "text/plain"), ("response.headers.etag", "\"e\""),
            ("response.headers['x-none']", nil), ("response.body.state", "done"), ("part.number", 1), ("part.size", 8),
            ("parse('{\"a\":[1,2]}').a[1]", 2), ("(inputs.list)[1]", "b"),
        ] as [(String, JSON)])
    func paths(text: String, value: JSON) throws {
        #expect(try Self.evaluate(text) == value)
    }

    @Test(
        "operators and their precedence",
        arguments: [
            ("1 + 2 * 3", 7), ("(1 + 2) * 3", 9), ("10 - 2 - 3", 5), ("7 / 2", 3.5), ("6 / 2", 3), ("2 * 0.5", 1),
            ("1 - -1", 2), ("-inputs.count", -3), ("- -3", 3),
            ("9223372036854775806 + 1", .number(JSONNumber(literal: "9223372036854775807"))),
            ("'a' + 'b' + 'c'", "abc"), ("1 < 2", true), ("2 <= 2", true), ("3 > 4", false), ("4 >= 4", true),
            ("'a' < 'b'", true), ("'B' < 'a'", true), ("1 == 1.0", true), ("'1' == 1", false), ("'a' == 'A'", false),
            ("inputs.big == 12345678901234567890", true), ("inputs.big > 12345678901234567889", true),
            ("null == inputs.nothing", true), ("inputs.video != null", true),
            ("inputs.list == split('a,b,c', ',')", true),
            ("true && false || true", true), ("true || 1 / 0 > 1", true), ("false && 1 / 0 > 1", false),
            ("!true", false),
            ("!(1 == 2) && !false", true), ("null ?? 5", 5), ("null ?? null ?? 'z'", "z"), ("inputs.count ?? 1 / 0", 3),
            ("null ?? 0 > 5", false), ("null ?? 1 + 2", 3), ("1 + 2 ?? 9", 3), ("inputs.nothing ?? 'a' + 'b'", "ab"),
            ("true ? 1 : 2", 1), ("false ? 1 : true ? 2 : 3", 2), ("1 < 2 ? 'y' : 'n'", "y"),
            ("inputs.flag ? 1 / 1 : 1 / 0", 1),
            ("null ?? true ? 'a' : 'b'", "a"), ("secrets.NONE ?? 'demo'", "demo"), ("secrets.NONE == null", true),
            ("(secrets.NONE) ?? (false ? 1 : secrets.OTHER) ?? 'd'", "d"), ("1e3", 1000), ("1.5e-1 * 10", 1.5),
        ] as [(String, JSON)])
    func operators(text: String, value: JSON) throws {
        #expect(try Self.evaluate(text) == value)
    }

    @Test(
        "texts and their escapes",
        arguments: [
            ("''", ""), ("'it''s'", "it's"), (#"'it\'s'"#, "it's"), (#"'a\\b'"#, #"a\b"#), (#"'\n\t\r'"#, "\n\t\r"),
            (#"'\u00e9\uD83D\uDE00'"#, "é😀"), ("'üñ'", "üñ"), ("''''", "'"), ("'a\nb'", "a\nb"), ("'}}'", "}}"),
        ])
    func texts(text: String, value: String) throws {
        #expect(try Self.evaluate(text) == .string(value))
    }

    @Test(
        "functions",
        arguments: [
            ("len('aé😀')", 3), ("len(inputs.list)", 3), ("len(item)", 3), ("lower('ABC')", "abc"),
            ("upper('abc')", "ABC"),
            ("trim('  a b \n')", "a b"), ("trim(' ')", ""), ("replace('aaa', 'a', 'bb')", "bbbbbb"),
            ("replace('aaa', 'aa', 'b')", "ba"),
            ("split('a,b,,c', ',')", ["a", "b", "", "c"]), ("split('', ',')", [""]),
            ("join(inputs.list, '-')", "a-b-c"),
            ("join(split('', 'x'), '-')", ""), ("contains('abc', 'bc')", true), ("contains('abc', '')", true),
            ("contains('abc', 'x')", false),
            ("contains(inputs.list, 'b')", true), ("contains(inputs.list, 1)", false),
            ("startsWith('abc', 'ab')", true),
            ("startsWith('a', 'ab')", false), ("endsWith('abc', 'bc')", true), ("endsWith('abc', 'ab')", false),
            ("urlencode('a b/é~-._')", "a%20b%2F%C3%A9~-._"), ("urlencode(42)", "42"), ("base64('')", ""),
            ("base64('f')", "Zg=="),
            ("base64('fo')", "Zm8="), ("base64('foo')", "Zm9v"), ("base64('foob')", "Zm9vYg=="),
            ("hex('Aé')", "41c3a9"),
            ("urlencode('.')", "%2E"), ("urlencode('..')", "%2E%2E"), ("urlencode('...')", "%2E%2E%2E"),
            ("urlencode('a..b')", "a..b"), ("urlencode('../x')", "..%2Fx"),
            ("flatten([inputs.list, 1, null, [null, [2]]])", ["a", "b", "c", 1, [2]]), ("flatten([])", []),
            ("slug('Batch 7.é--Über_3 ')", "batch-7-ber-3"), ("slug(42)", "42"),
            ("sha256('')", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            ("sha256('abc')", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (
                "sha256('abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq')",
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
            ),
            ("json(split('a,b', ','))", "[\"a\",\"b\"]"), ("json(null)", "null"),
            ("parse('[1,{\"a\":null}]')", [1, ["a": nil]]),
            ("number('1.50')", 1.5), ("number(' 7 ')", 7), ("number(7)", 7), ("string(1.5)", "1.5"),
            ("string(true)", "true"),
            ("string('s')", "s"), ("string(inputs.list)", "[\"a\",\"b\",\"c\"]"), ("basename('/a/b.txt')", "b.txt"),
            ("basename('/a/b/')", "b"),
            ("basename('/')", "/"), ("basename('')", ""), ("dirname('/a/b.txt')", "/a"), ("dirname('b.txt')", "."),
            ("dirname('/b')", "/"),
            ("dirname('a//b')", "a"), ("stem(inputs.video)", "selfie.clip"), ("extension(inputs.video)", "y4m"),
            ("stem('.bashrc')", ".bashrc"),
            ("extension('.bashrc')", ""), ("stem('a')", "a"), ("extension('a.')", ""), ("stem('/x.d/a')", "a"),
            ("extension('/x.d/a')", ""),
        ] as [(String, JSON)])
    func functions(text: String, value: JSON) throws {
        #expect(try Self.evaluate(text) == value)
    }

    @Test(
        "arrays and objects are written as they are in JSON, with values in them",
        arguments: [
            ("[]", []), ("{}", [:]), ("[1, 'a', null, inputs.count]", [1, "a", nil, 3]),
            ("[[1], [2]][1][0]", 2), ("{ 'a': inputs.count, 'b': [true] }", ["a": 3, "b": [true]]),
            ("{ 'a': { 'b': 1 } }.a.b", 1), ("{ 'x y': null }", ["x y": nil]),
            ("contains(['a', 'b'], 'b')", true), ("len({ 'a': 1 })", 1), ("json({'a':[1]})", "{\"a\":[1]}"),
            ("[1] == [1.0]", true), ("null ?? []", []),
        ] as [(String, JSON)])
    func literals(text: String, value: JSON) throws {
        #expect(try Self.evaluate(text) == value)
    }

    @Test("a digest is of a file, by an algorithm, in an encoding; a part's is of the bytes that are sent")
    func fileDigests() throws {
        var scope = Self.scope
        scope.facts = [
            .digest("/in/selfie.clip.y4m", .sha256): "abcd", .digest("/in/selfie.clip.y4m", .md5): "00ff10",
            .base64("/in/selfie.clip.y4m"): "QQ==",
        ]
        #expect(try Self.evaluate("digest(inputs.video)", in: scope) == "abcd")
        #expect(try Self.evaluate("digest(inputs.video, 'md5')", in: scope) == "00ff10")
        #expect(try Self.evaluate("digest(inputs.video, 'md5', 'base64')", in: scope) == "AP8Q")
        #expect(try Self.evaluate("fileBase64(inputs.video)", in: scope) == "QQ==")
        #expect(throws: EvaluationFailure.missing(.digest("/in/selfie.clip.y4m", .crc32c))) {
            try Self.evaluate("digest(inputs.video, 'crc32c')", in: scope)
        }
        #expect(throws: EvaluationFailure.self) { try Self.evaluate("part.digest()") }
        scope.partDigest = { $0 == .sha1 ? "01" : "02" }
        #expect(try Self.evaluate("part.digest('sha1', 'base64')", in: scope) == "AQ==")
        #expect(try Self.evaluate("part.digest()", in: scope) == "02")
    }

    @Test(
        "what an expression builds has a bound, and the place is told",
        arguments: [
            "replace(inputs.long, 'a', inputs.long)", "join(split(inputs.long, 'a'), inputs.long)",
            "urlencode(inputs.wide)", "inputs.wide + inputs.wide", "split(inputs.wide, '/')",
        ])
    func bounds(text: String) throws {
        var scope = Self.scope
        scope.inputs["long"] = .string(String(repeating: "a", count: 50_000))
        scope.inputs["wide"] = .string(String(repeating: "/", count: 40 << 20))
        let expression = try Expression.parse(text, in: SourceRange(start: 7, end: 7 + text.utf8.count))
        do throws(EvaluationFailure) {
            _ = try expression.evaluate(in: scope)
            Issue.record("a text of any size was built")
        } catch {
            guard case .wrong(let message, _, let range) = error else { throw error }
            #expect(message.contains("more than"))
            #expect(range.start >= 7)
        }
    }

    @Test("sha256 agrees with itself over every length around a block")
    func digests() throws {
        var scope = Self.scope
        let known = [
            55: "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318",
            56: "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a",
            63: "7d3e74a05d7db15bce4ad9ec0658ea98e3f06eeecf16b4c6fff2da457ddc2f34",
            64: "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb",
        ]
        for (length, digest) in known {
            scope.inputs["text"] = .string(String(repeating: "a", count: length))
            #expect(try Self.evaluate("sha256(inputs.text)", in: scope) == .string(digest))
        }
    }

    @Test("a condition is a boolean and nothing else")
    func conditions() throws {
        let yes = try Expression.parse("inputs.count > 2", in: SourceRange(start: 0, end: 16))
        #expect(try yes.evaluateCondition(in: Self.scope))
        let no = try Expression.parse("inputs.count", in: SourceRange(start: 0, end: 12))
        #expect(
            throws: EvaluationFailure.wrong(
                message: "inputs.count is a number where true or false is needed",
                hint: "compare it: inputs.count != 0",
                range: SourceRange(start: 0, end: 12))
        ) { try no.evaluateCondition(in: Self.scope) }
    }

    @Test("a field takes its expression bare or in one ${{ }}")
    func fields() throws {
        let quoted = try Expression.parseField(
            " contains('a${{', '${{')", in: TextOrigin(content: SourceRange(start: 0, end: 30)))
        #expect(try quoted.evaluate(in: Self.scope) == true)
        for text in ["inputs.flag", "${{ inputs.flag }}", "  ${{inputs.flag}}\n"] {
            let expression = try Expression.parseField(text, in: TextOrigin(content: SourceRange(start: 0, end: 40)))
            #expect(expression.text == "inputs.flag")
            #expect(try expression.evaluate(in: Self.scope) == true)
        }
        #expect(
            throws: ExpressionError(
                "this field is one expression, and only part of it stands in ${{ }}",
                hint: "write it bare, without ${{ }}",
                range: SourceRange(start: 0, end: 20))
        ) { try Expression.parseField("${{ inputs.x }} == 1", in: TextOrigin(content: SourceRange(start: 0, end: 20))) }
        #expect(
            throws: ExpressionError(
                "this field is one expression, and only part of it stands in ${{ }}",
                hint: "write it bare, without ${{ }}",
                range: SourceRange(start: 0, end: 20))
        ) { try Expression.parseField("1 == ${{ inputs.x }}", in: TextOrigin(content: SourceRange(start: 0, end: 20))) }
    }
}
