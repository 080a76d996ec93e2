import Testing

/// How large types are, measured over all of their files: a type in many small files is as large as in one.
@Suite struct TypeTests {
    private static let mostLines = 600
    private static let mostVariables = 12

    /// Types that store more than they should, and how much they may: this list only shrinks.
    private static let richer = [
        "PlannedStage": 31, "PostgresLibrary": 35, "ExchangeOptions": 29, "RequestDefinition": 19,
        "DownloadCheckpoint": 16,
        "RequestFields": 16, "StageOptions": 17, "Scope": 19, "ServerSentEvents": 14,
        "EnginePorts": 18, "StageSample": 15,
        "UploadFields": 15, "StageFacts": 16, "PollDefinition": 18, "PollFields": 16, "JobSnapshot": 14,
        "ItemRecord": 15,
        "CurlInvocation": 14,
        "CurlLoop": 14, "SchemaRule": 13, "JobScheduler": 15, "ConcurrencyController": 13, "StepRecord": 14,
        "PipelineDefinition": 13, "JobRecord": 13, "StepIndex": 14, "AnyStage": 13,
    ]

    /// The size of one type.
    private struct Size {
        var lines = 0
        var variables = 0
    }

    private static func sizes() throws -> [String: Size] {
        var sizes: [String: Size] = [:]
        for target in ImportTests.allowed.map(\.target) where target.hasPrefix("Pipeline") || target == "JSONPath" {
            var own: [String: Size] = [:]
            for file in try SourceTree.files(of: target) { measure(file.code, &own) }
            // Of two types of one name in different targets the larger counts.
            sizes.merge(own) { $0.lines + $0.variables > $1.lines + $1.variables ? $0 : $1 }
        }
        return sizes
    }

    private static func measure(_ code: [String], _ sizes: inout [String: Size]) {
        var current: (name: String, holdsVariables: Bool)?
        for line in code {
            if current == nil, let match = line.prefixMatch(of: declaration) {
                let name = String(match.output.2.split(separator: ".")[0])
                current = (
                    name, match.output.1 != "extension" && match.output.1 != "protocol" && match.output.1 != "enum"
                )
                sizes[name, default: Size()].lines += 1
                if line.hasSuffix("}") { current = nil }
                continue
            }
            guard let type = current else { continue }
            sizes[type.name, default: Size()].lines += 1
            if type.holdsVariables, isStored(line) { sizes[type.name, default: Size()].variables += 1 }
            if line == "}" { current = nil }
        }
    }

    private nonisolated(unsafe) static let declaration =
        /(?:[a-z@][A-Za-z()@]* )*(struct|class|enum|actor|extension|protocol) ([A-Za-z_][A-Za-z0-9_.]*)/

    /// Returns whether a line of a type's own level declares a variable that is stored.
    private static func isStored(_ line: String) -> Bool {
        guard line.hasPrefix("    "), !line.hasPrefix("     ") else { return false }
        let words = line.split(separator: " ")
        guard let place = words.firstIndex(where: { $0 == "let" || $0 == "var" }), !words[..<place].contains("static"),
            words[..<place].allSatisfy({ $0.first?.isLowercase == true || $0.hasPrefix("@") }),
            !words[..<place].contains("case"), !words[..<place].contains("func")
        else { return false }
        let isComputed = line.hasSuffix("{") || line.hasSuffix("}")
        return line.contains(" = ") || !isComputed
    }

    @Test("no type has more than 600 lines over all its files")
    func lines() throws {
        for (name, size) in try Self.sizes().sorted(by: { $0.key < $1.key }) {
            #expect(size.lines <= Self.mostLines, "\(name) has \(size.lines) lines")
        }
    }

    @Test("no type stores more than 12 variables, but those that are known to")
    func variables() throws {
        let rich = try Self.sizes().filter { $0.value.variables > Self.mostVariables }.mapValues(\.variables)
        for (name, count) in rich.sorted(by: { $0.key < $1.key }) {
            #expect(count <= Self.richer[name] ?? Self.mostVariables, "\(name) stores \(count) variables")
        }
        for name in Self.richer.keys { #expect(rich[name] != nil, "\(name) is no longer one of them: take it out") }
    }
}
