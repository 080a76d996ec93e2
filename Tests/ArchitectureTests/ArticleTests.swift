import Foundation
import Testing

/// What the article "How a job moves" names is there.
@Suite struct ArticleTests {
    private static let article = "Sources/PipelineKit/PipelineKit.docc/HowAJobMoves.md"

    private static var root: String {
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().path
    }

    private static func text(_ path: String) throws -> String {
        try String(contentsOfFile: "\(root)/\(path)", encoding: .utf8)
    }

    @Test("every file that the article names is there")
    func files() throws {
        let paths = try Self.text(Self.article).matches(of: /`(Sources\/[^`]+)`/).map { String($0.output.1) }
        #expect(paths.count > 30)
        for path in paths { #expect(FileManager.default.fileExists(atPath: "\(Self.root)/\(path)"), "\(path)") }
    }

    @Test("its tables have every input and every command, and no other", arguments: ["JobInput", "JobCommand"])
    func tables(type: String) throws {
        let code = try Self.text("Sources/PipelineCore/Job/\(type).swift")
        // The cases of the first type, which are indented once.
        let end = code.range(of: "\n}\n")?.lowerBound ?? code.endIndex
        let cases = code[..<end].matches(of: /\n    case `?([a-zA-Z]+)/).map { String($0.output.1) }
        let header = type == "JobInput" ? "| input |" : "| command |"
        let table = try #require(try Self.text(Self.article).components(separatedBy: header).dropFirst().first)
        let rows = table.components(separatedBy: "\n\n")[0].matches(of: /\n\| `([a-zA-Z]+)` \|/)
        #expect(rows.map { String($0.output.1) } == cases)
    }
}
