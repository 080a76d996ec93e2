import ArgumentParser
import JSONPath
import PipelineKit
import PipelineStages

/// `pipeline plugins`: what is found where, and what is wrong with it.
struct PluginsCommand: WorkspaceCommand {
    static let configuration = CommandConfiguration(
        commandName: "plugins", abstract: "List the plugins that are installed, and what is wrong with them.",
        discussion: "Example: pipeline plugins --json", subcommands: [PluginsTestCommand.self])

    @OptionGroup var common: CommonOptions

    @Flag(help: "Write a JSON array, with the schemas.")
    var json = false

    func run(in workspace: Workspace, console: Console) async throws -> ExitStatus {
        let reports = await workspace.plugins.reports()
        if json {
            console.data(JSON.array(reports.map(\.json)).prettyText())
            return .succeeded
        }
        for report in reports { show(report, on: console) }
        if reports.isEmpty {
            console.note(
                "no plugins; programs called pipeline-stage-NAME, pipeline-decorator-NAME and pipeline-sink-NAME are looked for in:"
            )
            for path in workspace.plugins.folders.paths { console.note("  \(path)") }
        }
        return .succeeded
    }

    private func show(_ report: PluginReport, on console: Console) {
        let mark = report.isUsable ? " " : "!"
        let version = report.description?.version ?? "-"
        console.data(
            SafeText.line(
                "\(mark) \(report.program.role.rawValue) \(report.program.name) \(version)  \(report.program.path)"))
        if let summary = report.description?.summary { console.data(SafeText.line("    \(summary)")) }
        for problem in report.problems { console.data(SafeText.line("    problem: \(problem)")) }
    }
}

/// `pipeline plugins test PROGRAM`: whether a program keeps the protocol.
struct PluginsTestCommand: WorkspaceCommand {
    static let configuration = CommandConfiguration(
        commandName: "test", abstract: "Try out whether a program keeps the plugin protocol.",
        discussion: "Example: pipeline plugins test ./pipeline-stage-transcode")

    @OptionGroup var common: CommonOptions

    @Argument(help: "The program.", completion: .file())
    var program: String

    @Flag(help: "Write the findings as JSON.")
    var json = false

    func run(in workspace: Workspace, console: Console) async throws -> ExitStatus {
        let path = AbsolutePath.of(program, in: AbsolutePath.workingDirectory)
        let settings = PluginSettings(environment: workspace.settings.environment)
        let findings = await PluginConformance(path: path, settings: settings).run()
        let holds = findings.allSatisfy(\.holds)
        if json {
            console.data(JSON.array(findings.map { Self.json(of: $0) }).prettyText())
            return holds ? .succeeded : .failed
        }
        for finding in findings {
            console.data("\(finding.holds ? "ok  " : "FAIL") \(SafeText.line(finding.check))")
            guard let problem = finding.problem else { continue }
            console.data(SafeText.line("     seen: \(problem)"))
            if let hint = finding.hint { console.data(SafeText.line("     hint: \(hint)")) }
        }
        return holds ? .succeeded : .failed
    }

    private static func json(of finding: PluginConformance.Finding) -> JSON {
        [
            "check": .string(finding.check), "holds": .bool(finding.holds),
            "problem": finding.problem.map(JSON.string) ?? .null,
            "hint": finding.holds ? .null : finding.hint.map(JSON.string) ?? .null,
        ]
    }
}
