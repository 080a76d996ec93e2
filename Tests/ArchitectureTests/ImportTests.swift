import Foundation
import Testing

/// Who may import whom: a star around Core, so that no arrow turns back.
@Suite("The walls between the targets") struct ImportTests {
    /// The modules of ours that each target may import.
    static let allowed: [(target: String, modules: Set<String>)] = [
        ("JSONPath", []),
        ("Assertions", []),
        ("NetworkTasks", []),
        ("Encodings", []),
        ("CLibrary", []),
        ("SeededNumbers", []),
        ("JournalCopies", ["PipelineSQLite"]),
        ("PipelineCore", ["Encodings", "JSONPath"]),
        ("PipelineHTTP", ["CBase64", "CCurl", "CZlib", "Encodings", "NetworkTasks"]),
        ("PipelineEngine", ["Assertions", "JSONPath", "PipelineCore"]),
        ("PipelineSQL", []),
        ("PipelineSQLite", ["CSQLite", "PipelineSQL"]),
        ("PipelinePostgres", ["Assertions", "CLateLibrary", "Encodings", "PipelineSQL"]),
        (
            "PipelineJournal",
            [
                "Assertions", "CSQLite", "JSONPath", "PipelineCore", "PipelineHTTP", "PipelinePostgres",
                "PipelineSQL", "PipelineSQLite",
            ]
        ),
        (
            "PipelineStages",
            [
                "CArchive", "CChecksum", "CFiles", "COpenSSL", "Encodings", "JSONPath", "NetworkTasks", "PipelineCore",
                "PipelineHTTP",
            ]
        ),
        ("PipelineNotifier", ["CCurl", "JSONPath", "PipelineCore", "PipelineHTTP"]),
        ("PipelineTraces", ["JSONPath", "PipelineCore", "PipelineHTTP"]),
        (
            "PipelineKit",
            [
                "Assertions", "JSONPath", "PipelineCore", "PipelineEngine", "PipelineHTTP", "PipelineJournal",
                "PipelineNotifier", "PipelineStages", "PipelineTraces",
            ]
        ),
        ("PipelineServer", ["PipelineCore", "PipelineKit"]),
        ("PipelinePictures", ["CAssets", "PipelineCore", "PipelineKit"]),
        (
            "PipelineDashboard",
            [
                "Assertions", "CAssets", "JSONPath", "PipelineCore", "PipelineEngine", "PipelineKit",
                "PipelinePictures", "PipelineServer",
            ]
        ),
        (
            "PipelineCommands",
            [
                "Assertions", "JSONPath", "PipelineCore", "PipelineEngine", "PipelineHTTP", "PipelineJournal",
                "PipelineKit", "PipelinePictures", "PipelineSimulation", "PipelineStages",
            ]
        ),
        ("JournalConformance", ["JSONPath", "PipelineCore"]),
        ("PipelineSimulation", ["JSONPath", "NetworkTasks", "PipelineCore", "PipelineHTTP", "SeededNumbers"]),
        ("pipeline", ["PipelineCommands"]),
        ("PipelineMetrics", ["PipelineCore", "PipelineKit"]),
        (
            "PipelineDaemon",
            [
                "Assertions", "JSONPath", "PipelineCore", "PipelineDashboard", "PipelineEngine", "PipelineKit",
                "PipelineMetrics", "PipelineServer",
            ]
        ),
        ("pipeline-daemon", ["PipelineDaemon"]),
        ("ExampleStages", ["PipelineKit"]),
        ("example-pipeline", ["ExampleStages", "PipelineCommands"]),
        ("example-pipeline-daemon", ["ExampleStages", "PipelineDaemon"]),
        ("ExampleJournal", ["PipelineKit"]),
        ("example-journal", ["ExampleJournal", "JournalConformance", "PipelineKit"]),
        ("example-network", ["PipelineHTTP"]),
        ("SelfieStudio", ["CZlib"]),
    ]

    /// The platform, under one name.
    static let everybodys = "CLibrary"

    static let ours = Set(
        allowed.map(\.target) + [
            "CArchive", "CAssets", "CBase64", "CChecksum", "CCurl", "CFiles", "CLateLibrary", "CSQLite", "CZlib",
            "COpenSSL", "PipelineTestKit",
        ])

    @Test("a target imports only what stands behind it", arguments: allowed)
    func imports(target: String, modules: Set<String>) throws {
        for file in try SourceTree.files(of: target) {
            for module in file.imports where Self.ours.contains(module) && module != Self.everybodys {
                #expect(modules.contains(module), "\(file.path) imports \(module)")
            }
        }
    }

    @Test("Core has no log, no files, no network and no threads")
    func coreIsPure() throws {
        let allowed: Set<String> = ["CLibrary", "Encodings", "JSONPath", "Synchronization"]
        for file in try SourceTree.files(of: "PipelineCore") {
            #expect(file.imports.allSatisfy(allowed.contains), "\(file.path) imports \(file.imports)")
        }
    }

    @Test("Core and the engine know no kind's name", arguments: ["PipelineCore", "PipelineEngine"])
    func kindsAreUnknown(target: String) throws {
        let names = ["\"upload\"", "\"compute\"", "\"download\"", "\"request\"", "\"write\"", "\"wait\""]
        for file in try SourceTree.files(of: target) {
            for line in file.code where !line.contains("examples:") {
                for name in names {
                    #expect(!line.contains("== \(name)") && !line.contains("case \(name)"), "\(file.path): \(line)")
                }
            }
        }
    }

    @Test("No code chooses by a kind's name: kinds are registered, and found by their names")
    func noSwitchOverKinds() throws {
        let kinds = ["upload", "compute", "download", "request", "write", "wait"]
        let decorators = ["headers", "bearer", "basic", "apiKey", "sigv4", "multipart", "idempotencyKey", "prefer"]
        for (target, _) in Self.allowed where target.hasPrefix("Pipeline") {
            for file in try SourceTree.files(of: target) {
                for (number, line) in file.code.enumerated() {
                    let place = "\(file.path):\(number + 1): \(line)"
                    #expect(!line.contains("switch kind.name") && !line.contains("switch stage.kind"), "\(place)")
                    for name in kinds + decorators {
                        #expect(!line.contains("kind == \"\(name)\""), "\(place)")
                        #expect(!line.contains("kind.name == \"\(name)\""), "\(place)")
                        #expect(!line.contains("kinds[\"\(name)\"]"), "\(place)")
                    }
                    // A case that lists two kinds is a switch over them, whatever it is called.
                    let chosen = kinds.filter { line.contains("\"\($0)\"") }
                    #expect(!(line.contains("case ") && chosen.count > 1), "\(place)")
                }
            }
        }
    }

    /// An entry ends with its name: a copy of the whole array reads past it, and now and then past the page (readdir(3)).
    @Test("the name of an entry of a folder is read where it stands, not copied")
    func directoryEntries() throws {
        for (target, _) in Self.allowed {
            for file in try SourceTree.files(of: target) {
                for line in file.code where line.contains(".d_name") {
                    #expect(line.contains("&"), "\(file.path): \(line)")
                }
            }
        }
    }

    @Test("no file is longer than 400 lines")
    func lengths() throws {
        for (target, _) in Self.allowed {
            for file in try SourceTree.files(of: target) {
                #expect(file.code.count <= 400, "\(file.path) has \(file.code.count) lines")
            }
        }
    }
}

/// The sources of the package, as text.
struct SourceTree {
    struct File {
        let path: String
        let code: [String]

        var imports: [String] {
            code.compactMap { line in
                let words = line.split(separator: " ")
                guard let index = words.firstIndex(of: "import"), index <= 1, index + 1 < words.count else {
                    return nil
                }
                return String(words[index + 1])
            }
        }
    }

    static func files(of target: String) throws -> [File] {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Sources/\(target)")
        let paths = try FileManager.default.subpathsOfDirectory(atPath: root.path).filter { $0.hasSuffix(".swift") }
        try #require(!paths.isEmpty, "there are no sources of \(target)")
        return try paths.map { path in
            let text = try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
            return File(path: "\(target)/\(path)", code: text.components(separatedBy: "\n"))
        }
    }
}
