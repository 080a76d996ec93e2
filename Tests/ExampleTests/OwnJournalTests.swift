import Foundation
import PipelineTestKit
import Testing

/// The program of "Writing a journal", which is built without the access that the package has to itself.
@Suite("A journal of one's own", .timeLimit(.minutes(2))) struct OwnJournalTests {
    private func run(_ arguments: [String], in bench: ExampleBench) async throws -> ProgramEnd {
        try await BuiltProgram(named: "example-journal").run(
            arguments, environment: BuiltProgram.environment(home: bench.folder), folder: bench.folder)
    }

    @Test("the guide prints the program that is built, piece by piece")
    func guide() throws {
        let root = ExampleTests.root.path
        let page = try String(
            contentsOfFile: root + "/Sources/PipelineKit/PipelineKit.docc/WritingAJournal.md", encoding: .utf8)
        let code = try ["ExampleJournal/ByteJournal", "example-journal/main"].map {
            try String(contentsOfFile: root + "/Sources/\($0).swift", encoding: .utf8)
        }.joined()
        let blocks = page.components(separatedBy: "```swift\n").dropFirst()
            .compactMap { $0.components(separatedBy: "```").first }
        #expect(blocks.count >= 4)
        for block in blocks where !block.hasPrefix("    .") { #expect(code.contains(block), "\(block)") }
        let manifest = try String(contentsOfFile: root + "/Package.swift", encoding: .utf8)
        #expect(manifest.contains(".library(name: \"JournalConformance\""))
    }

    @Test("keeps every promise")
    func keepsPromises() async throws {
        let bench = try ExampleBench()
        defer { bench.remove() }
        let end = try await run([], in: bench)
        #expect(end.cause == .exited(0), "\(end)")
        #expect(end.output.hasSuffix(" promises, 0 violations\n"), "\(end.output)")
    }

    @Test("has the engine run a job over it")
    func runsJob() async throws {
        let bench = try ExampleBench()
        defer { bench.remove() }
        try """
        { "pipeline": 1, "name": "note", "stages": [
            { "id": "pause", "kind": "wait", "for": "10ms" },
            { "id": "keep", "kind": "write", "needs": ["pause"], "to": "note.txt", "text": "kept" } ] }
        """.write(toFile: bench.folder + "/note.json", atomically: true, encoding: .utf8)
        let end = try await run(["note.json"], in: bench)
        #expect(end.cause == .exited(0), "\(end)")
        let lines = end.output.split(separator: "\n")
        #expect(lines.first == "succeeded" && lines.last?.hasSuffix("/note.txt") == true, "\(end)")
        #expect(try String(contentsOfFile: bench.folder + "/note.txt", encoding: .utf8) == "kept")
    }

    @Test("a mistake of the document is a failure with its place, and nothing is kept")
    func mistake() async throws {
        let bench = try ExampleBench()
        defer { bench.remove() }
        try #"{ "pipeline": 1, "name": "note", "stages": [ { "id": "a", "kind": "no" } ] }"#
            .write(toFile: bench.folder + "/note.json", atomically: true, encoding: .utf8)
        let end = try await run(["note.json"], in: bench)
        #expect(end.cause == .exited(65), "\(end)")
        #expect(end.output.hasPrefix("note.json:1:"), "\(end)")
    }
}
