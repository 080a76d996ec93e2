import JSONPath
import PipelineCore
import SeededNumbers
import Testing

/// Texts that went wrong in random places: nothing may trap, and every error must point into its text.
@Suite struct MutationTests {
    static let pieces = [
        "${{", "}}", "$${{", "'", "''", "\\", "\\u00e9", "\\ud83d", "inputs", ".", "[", "]", "(", ")", "??", "?", ":",
        "!", "-", "+", "*", "/", "==", "<", "&&",
        "||", "null", "true", "1", "-1", "9223372036854775807", "1e400", "0.1", "stages.a.b", "item", "index", "len(",
        "parse(", "now()", "é", "\u{0}", "😀", " ", ",",
        "$", "$.", "[*]", "[]", "?", "header:", "xml:/", "regex:", "$items", "//", "~1", "{", "}", "..", "@", "#", "%",
        "%41", "&amp;", "<a>", "</a>", "<![CDATA[",
    ]

    static func mutated(_ text: String, _ random: inout SplitMix64) -> String {
        var scalars = Array(text.unicodeScalars)
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            let place = Int.random(in: 0...scalars.count, using: &random)
            let end = min(scalars.count, place + Int.random(in: 0...6, using: &random))
            switch Int.random(in: 0..<4, using: &random) {
            case 0: scalars.removeSubrange(place..<end)
            case 1:
                scalars.insert(
                    contentsOf: Array(scalars[place..<end]), at: Int.random(in: 0...scalars.count, using: &random))
            case 2:
                scalars.insert(
                    contentsOf: Array(pieces[Int.random(in: pieces.indices, using: &random)].unicodeScalars), at: place)
            default:
                scalars.replaceSubrange(
                    place..<end, with: Array(pieces[Int.random(in: pieces.indices, using: &random)].unicodeScalars))
            }
        }
        var result = String.UnicodeScalarView()
        result.append(contentsOf: scalars)
        return String(result)
    }

    static let expressions = [
        "inputs.list[index] ?? 'a' + stages.upload.id",
        "len(split(inputs.video, '/')) > 2 && !(response.status == 200)",
        "inputs.flag ? size(inputs.video) / 1000 : -inputs.count * 2.5", "parse('{\"a\":[1,2]}').a[-1] == null",
        "urlencode(base64(secrets.TOKEN))",
        "join(inputs.list, ', ') + lower('ABC') + stem(inputs.video)", "item['name'] + string(item.size - 1)",
    ]

    @Test("expressions and templates", arguments: [1, 2, 3, 4] as [UInt64])
    func expressions(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        for round in 0..<4000 {
            let seedText = Self.expressions[round % Self.expressions.count]
            let text = Self.mutated(
                round.isMultiple(of: 2) ? seedText : "a ${{ \(seedText) }} b$${{ ${{\(seedText)}}", &random)
            let range = SourceRange(start: 1000, end: 1000 + text.utf8.count)
            do throws(ExpressionError) {
                if round.isMultiple(of: 2) {
                    evaluate(try Expression.parse(text, in: range), range)
                } else {
                    let template = try Template.parse(text, in: range)
                    _ = try? template.evaluate(in: ExpressionTests.scope)
                    _ = template.describe(in: ExpressionTests.scope)
                }
            } catch { check(error.range, range, text) }
        }
    }

    private func evaluate(_ expression: Expression, _ range: SourceRange) {
        for reference in expression.references { check(reference.range, range, expression.text) }
        let first = Result { () throws(EvaluationFailure) in try expression.evaluate(in: ExpressionTests.scope) }
        let second = Result { () throws(EvaluationFailure) in try expression.evaluate(in: ExpressionTests.scope) }
        #expect(first == second)
        if case .failure(.wrong(_, _, let place)) = first { check(place, range, expression.text) }
        #expect(!expression.describe(in: ExpressionTests.scope).contains("t0p"))
    }

    private func check(_ place: SourceRange, _ range: SourceRange, _ text: String) {
        if place.start < range.start || place.end > range.end || place.start > place.end {
            Issue.record("\(place) is not in \(range) of \(text)")
        }
    }

    @Test("selectors", arguments: [1, 2, 3] as [UInt64])
    func selectors(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let seeds = [
            "$.files[?@.url == '/c'].url[]", "/a~1b/~0", "header:Location?", "regex:(\\d+)%", "xml:/A/B",
            "$items[*].url", "status",
        ]
        for round in 0..<3000 {
            let text = Self.mutated(seeds[round % seeds.count], &random)
            do throws(SelectorError) {
                let selector = try Selector.parse(text)
                _ = try? selector.value(in: SelectorTests.answer)
                _ = selector.lenientValue(in: SelectorTests.answer)
            } catch { check(error.range, SourceRange(start: 0, end: text.utf8.count), text) }
        }
    }

    @Test("XML, URLs, times and values", arguments: [1, 2, 3] as [UInt64])
    func others(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let xml = "<?xml version=\"1.0\"?><A x='1'><B>&amp;t</B><!-- c --><B><![CDATA[d]]></B></A>"
        let selector = try Selector.parse("xml:/A/B")
        for _ in 0..<1000 {
            _ = selector.lenientValue(
                in: ServiceResponse(status: 200, url: "http://h", body: Array(Self.mutated(xml, &random).utf8)))
            let url = Self.mutated("http://h:1/a/../b/./c?d=e#f", &random)
            #expect(URLReference(url).text == url)
            _ = URLReference.resolve(url, against: "http://a/b/c/d;p?q")
            _ = try? Timestamp.parse(Self.mutated("2026-11-20T12:00:00.123Z", &random))
            _ = Timestamp.httpDate(Self.mutated("Sun, 06 Nov 1994 08:49:37 GMT", &random))
            _ = try? DurationText.parse(Self.mutated("1h30m5s", &random))
            _ = try? RateText.parse(Self.mutated("500KB/s", &random))
            let text = Self.mutated("a sk-1234567890abcdef %41 \\u0041 c2stMTIzNDU2Nzg5MGFiY2RlZg==", &random)
            #expect(!RedactorTests.redactor.redact(text).contains("sk-1234567890abcdef"))
        }
    }
}
