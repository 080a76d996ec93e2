import JSONPath
import PipelineCore
import Testing

@Suite struct ReferenceTests {
    static func references(_ text: String) throws -> [Reference] {
        try Expression.parse(text, in: SourceRange(start: 0, end: text.utf8.count)).references
    }

    @Test(
        "every root is found",
        arguments: [
            ("inputs.video", .input("video")), ("env.HOST", .environment("HOST")), ("secrets.A", .secret("A")),
            ("stages.my-stage.url.deeper[0]", .capture(stage: "my-stage", name: "url")),
            ("stages.a['b c']", .capture(stage: "a", name: "b c")),
            ("stages.a[1 + 2]", .capture(stage: "a", name: nil)), ("self.id", .own("id")), ("self[1]", .own(nil)),
            ("self.key", .ownKey),
            ("self.callbackURL", .callbackURL), ("self.parts.etag", .ownParts("etag")), ("self.parts", .ownParts(nil)),
            ("item.a", .item),
            ("index", .index), ("job.key", .job("key")), ("response.body.x", .response("body")),
            ("part.size", .part("size")), ("part.digest('md5')", .part("digest")),
        ] as [(String, Reference.Root)])
    func roots(text: String, root: Reference.Root) throws {
        let references = try Self.references(text)
        #expect(references.map(\.root) == [root])
        #expect(references.first?.range == SourceRange(start: 0, end: text.utf8.count))
        #expect(references.first?.toleratesNull == false)
    }

    @Test(
        "null does no harm on the left of ?? and beside null",
        arguments: [
            ("stages.a.x ?? 1", [true]), ("1 ?? stages.a.x", [false]), ("stages.a.x ?? stages.b.x", [true, false]),
            ("stages.a.x ?? stages.b.x ?? 'z'", [true, true]), ("stages.a.x == null", [true]),
            ("null != stages.a.x", [true]),
            ("stages.a.x == 'a'", [false]), ("(stages.a.x) ?? 1", [true]),
            ("(true ? stages.a.x : stages.b.x) ?? 1", [true, true]),
            ("(stages.c.x ? stages.a.x : 1) ?? 1", [false, true]), ("len(stages.a.x) ?? 0", [false]),
            ("stages.a.x + 'a' ?? 'b'", [false]),
            ("(stages.a.x ?? stages.b.x) ?? 1", [true, true]), ("stages.a[stages.b.x] ?? 1", [true, false]),
            ("!stages.a.x", [false]),
            ("stages.a.x == null && stages.a.x.y == 1", [true, false]),
        ])
    func tolerance(text: String, tolerates: [Bool]) throws {
        #expect(try Self.references(text).map(\.toleratesNull) == tolerates)
    }

    @Test(
        "a file that the text names itself is told from one that something gives",
        arguments: [
            ("text('a.md')", true), ("1 + size('a' + '.bin')", true), ("text(inputs.a)", false),
            ("digest(stages.a.path, 'md5')", false), ("text('a/' + item)", false), ("basename('a.md')", false),
            ("inputs.a ?? text('a.md')", true),
        ])
    func files(text: String, isNamed: Bool) throws {
        let expression = try Expression.parse(text, in: SourceRange(start: 0, end: text.utf8.count))
        #expect(expression.namesFile == isNamed)
    }

    @Test("ranges point into the file, past escapes")
    func ranges() throws {
        let file = #"{"a": "é\n\u00e9\ud83d\ude00 ${{ 'x\\n' + inputs.video }}"}"#
        let source = SourceText(name: "f", text: file)
        let node = try JSONNode.parse(source)
        guard case .object(let members) = node.content, case .string(let text) = members[0].value.content else {
            Issue.record("no object")
            return
        }
        let template = try Template.parse(text, in: TextOrigin(literal: members[0].value.range, in: source))
        let range = try #require(template.references.first?.range)
        #expect(String(decoding: source.bytes[range.start..<range.end], as: UTF8.self) == "inputs.video")
    }
}
