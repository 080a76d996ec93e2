import Foundation
import Testing

/// What others can build on is a promise: a change of it is seen, and each part of it is explained.
@Suite("The surface of the libraries") struct SurfaceTests {
    private static let libraries = [
        "Assertions", "JSONPath", "NetworkTasks", "PipelineHTTP", "PipelineCore", "PipelineStages", "PipelineKit",
        "PipelineCommands", "PipelineDaemon", "JournalConformance",
    ]

    /// Those that a library product brings along, without anything for its users.
    private static let hidden = [
        "CLibrary", "Encodings", "SeededNumbers", "JournalCopies", "PipelineEngine",
        "PipelineJournal",
        "PipelineSQL", "PipelineSQLite", "PipelinePostgres", "PipelineNotifier", "PipelineTraces", "PipelineServer",
        "PipelinePictures", "PipelineDashboard", "PipelineMetrics",
        "PipelineSimulation", "PipelineTestKit", "SelfieStudio",
    ]

    private static let listing = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("surface.txt")

    @Test("is the one that is listed; RECORD=1 lists it again")
    func listed() throws {
        var lines: [String] = []
        for library in Self.libraries {
            lines += ["# \(library)"] + (try PublicSurface(of: library).lines) + [""]
        }
        let text = lines.joined(separator: "\n")
        if ProcessInfo.processInfo.environment["RECORD"] != nil {
            try text.write(to: Self.listing, atomically: true, encoding: .utf8)
        }
        let known = try String(contentsOf: Self.listing, encoding: .utf8)
        let (old, new) = (Set(known.split(separator: "\n")), Set(text.split(separator: "\n")))
        for line in old.subtracting(new).sorted() { Issue.record("gone: \(line)") }
        for line in new.subtracting(old).sorted() { Issue.record("new: \(line)") }
        #expect(known == text)
    }

    @Test("is empty where users have no business", arguments: hidden)
    func closed(target: String) throws {
        #expect(try PublicSurface(of: target).lines == [])
    }

    /// What the standard library asks of a type is explained there.
    private static let standard: Set = [
        "description", "debugDescription", "hash", "encode", "rawValue", "makeIterator", "makeAsyncIterator", "next",
        "Element", "Iterator", "Output",
    ]

    /// The names of what the protocols of all libraries require.
    private static let required = Result {
        try Set(libraries.flatMap { try PublicSurface(of: $0).declarations }.filter(\.isRequirement).map(\.name))
    }

    @Test("is documented by whole sentences: none begins with a question's word", arguments: libraries)
    func sentences(library: String) throws {
        let questions: Set = ["What", "Whether", "How", "When", "Where", "Who", "Why"]
        for declaration in try PublicSurface(of: library).declarations {
            guard let summary = declaration.summary, let word = summary.split(separator: " ").first else { continue }
            #expect(
                !questions.contains(String(word)) && !summary.hasPrefix("The same "),
                "\(declaration.place): \"\(summary)\" begins with no noun and no verb")
        }
    }

    @Test("is documented, but for what a documented protocol requires", arguments: libraries)
    func documented(library: String) throws {
        let required = try Self.required.get()
        let surface = try PublicSurface(of: library)
        for declaration in surface.declarations where declaration.summary == nil {
            let isWitness =
                !declaration.isRequirement && declaration.name != "init" && required.contains(declaration.name)
            let isStandard =
                Self.standard.contains(declaration.name) || declaration.name.first?.isLetter == false
                || declaration.signature.hasPrefix("init(from decoder")
                || declaration.signature.contains("Literal") || declaration.signature.hasPrefix("init?(rawValue")
            // A case whose name says it needs no sentence.
            let isPlainCase = declaration.signature.hasPrefix("case ")
            #expect(
                isWitness || isStandard || isPlainCase,
                "\(declaration.place): \(declaration.owner).\(declaration.name) says nothing about itself")
        }
    }
}
