import ArgumentParser
import JSONPath
import PipelineCore
import PipelineKit

/// `pipeline validate`: checks pipeline files and tells every mistake.
struct ValidateCommand: WorkspaceCommand {
    static let configuration = CommandConfiguration(
        commandName: "validate", abstract: "Check pipeline files; every mistake is told at once.",
        discussion: "Example: pipeline validate selfie.json")

    @OptionGroup var common: CommonOptions

    @Argument(help: "Pipeline files.", completion: .pipelines)
    var files: [String]

    @Flag(help: "Write the result as JSON.")
    var json = false

    func run(in workspace: Workspace, console: Console) async throws -> ExitStatus {
        var results: [JSON] = []
        var isValid = true
        for file in files {
            do {
                let source = try JobDraft.source(at: file)
                if files.count > 1, Self.isSchema(source.bytes) {
                    if !json { console.note("\(file): left out, a JSON Schema and no pipeline") }
                    continue
                }
                let plan = try Planner(catalogue: await workspace.catalogue(for: source)).plan(source)
                var result: JSONObject = ["file": .string(file), "valid": true, "errors": []]
                if !plan.warnings.diagnostics.isEmpty {
                    result["warnings"] = .array(Self.list(plan.warnings))
                    if !json { console.note(plan.warnings.text) }
                }
                results.append(.object(result))
                let count = plan.stages.count
                if !json { console.data("\(file): valid, \(count) stage\(count == 1 ? "" : "s")") }
            } catch {
                isValid = false
                let errors = Self.errors(in: error, of: file)
                results.append(["file": .string(file), "valid": false, "errors": .array(errors)])
                if !json { ErrorReport(error, starts: false).show(on: console) }
            }
        }
        if json { console.data(JSON.array(results).prettyText()) }
        return isValid ? .succeeded : .invalid
    }

    /// True of the file that `init` writes next to a document, for editors: `validate *.json` names it as well.
    private static func isSchema(_ text: [UInt8]) -> Bool {
        guard let json = try? JSON.parse(text), json["pipeline"] == nil else { return false }
        return json["$schema"]?.string?.hasPrefix("https://json-schema.org/") == true
    }

    private static func list(_ report: DiagnosticReport) -> [JSON] {
        report.located.map { diagnostic, place in
            [
                "line": .number(JSONNumber(place.line)), "column": .number(JSONNumber(place.column)),
                "pointer": .string(diagnostic.pointer), "message": .string(diagnostic.message),
                "hint": JSON(diagnostic.hint),
            ]
        }
    }

    /// A mistake of another file, a service that documents share, says which.
    private static func errors(in error: any Error, of file: String) -> [JSON] {
        switch error {
        case let error as DefinitionError:
            list(DiagnosticReport(source: error.source, diagnostics: error.diagnostics)).map { entry in
                guard error.source.name != file, var named = entry.object else { return entry }
                named["message"] = .string("\(error.source.name): \(named["message"]?.string ?? "")")
                return .object(named)
            }
        case let error as StepFailure:
            [["line": 1, "column": 1, "pointer": "", "message": .string(error.title), "hint": JSON(error.hint)]]
        default: [["line": 1, "column": 1, "pointer": "", "message": .string("\(error)"), "hint": nil]]
        }
    }
}
