import Foundation
import JSONPath
import PipelineCore
import Testing

/// Each row of the page on expressions and selectors gives what it says.
@Suite("The page on expressions and selectors") struct ExpressionPageTests {
    private static let page =
        (try? GuidePage(named: "Expressions")).map { ($0.lines.joined(separator: "\n"), $0.fragments) } ?? ("", [])

    /// The rows of two cells in code under a heading, up to the next one.
    private static func rows(under heading: String) -> [(String, String)] {
        let section = page.0.components(separatedBy: "\n## \(heading)\n").dropFirst().first ?? ""
        let lines = (section.components(separatedBy: "\n## ").first ?? "").components(separatedBy: "\n")
        return lines.compactMap { line in
            line.wholeMatch(of: /\| `(.+)` \| `(.+)` \|/).map { (String($0.output.1), String($0.output.2)) }
        }
    }

    private static func block(_ number: Int) throws -> JSON {
        try #require(page.1.count == 2)
        return try JSON.parse(page.1[number])
    }

    @Test("expressions", arguments: rows(under: "Operators") + rows(under: "Functions"))
    func expressions(text: String, value: String) throws {
        let inputs = try #require(try Self.block(0).object)
        let expression = try Expression.parse(text, in: SourceRange(start: 0, end: text.utf8.count))
        #expect(try expression.evaluate(in: Scope(inputs: inputs)) == JSON.parse(value))
    }

    @Test("selectors", arguments: rows(under: "Selectors"))
    func selectors(text: String, value: String) throws {
        let isWritten = text.hasPrefix("{") || text.hasPrefix("[")
        let source = SourceText(name: "page", text: isWritten ? text : JSON.string(text).text)
        var errors: [SelectorError] = []
        let selector = try #require(Selector.parse(try JSONNode.parse(source), in: source, errors: &errors))
        let answer = ServiceResponse(
            status: 201, headers: [("Location", "/v1/jobs/7")], url: "https://api.example.com/v1/jobs",
            body: Array(try Self.block(1).text.utf8))
        #expect(try selector.value(in: answer) == JSON.parse(value))
    }

    @Test("every function is on the page")
    func isWhole() throws {
        #expect(Self.rows(under: "Operators").count > 8 && Self.rows(under: "Selectors").count > 8)
        let text = "nosuch()"
        do {
            _ = try Expression.parse(text, in: SourceRange(start: 0, end: text.utf8.count))
            Issue.record("there is a function of that name")
        } catch {
            let hint = try #require(error.hint, "\(error)")
            let names = hint.matches(of: /[a-z][A-Za-z0-9]+/).map { String($0.output) }.filter { $0.count > 2 }
            #expect(names.contains("urlencode"), "\(hint)")
            for name in names where !["functions", "the", "are", "there", "known"].contains(name) {
                #expect(Self.page.0.contains("`\(name)("), "\(name)")
            }
        }
    }
}
