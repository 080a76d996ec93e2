package import JSONPath
import PipelineCore

/// The facts that are known of one program that was found: the data of `pipeline plugins`.
package struct PluginReport: Sendable {
    package let program: PluginProgram
    /// Nil when it could not say what it is.
    package let description: PluginDescription?
    /// The obstacles to its use, and what is odd, one sentence each; empty when all is well.
    package let problems: [String]
    /// True if documents can use it.
    package let isUsable: Bool

    init(_ program: PluginProgram, _ result: Result<PluginDescription, PluginFault>, isReserved: Bool) {
        self.program = program
        var problems: [String] = []
        if let first = program.hiddenBy { problems.append("it is hidden by \(first)") }
        if isReserved { problems.append("'\(program.name)' is built in, and no plugin replaces that") }
        switch result {
        case .success(let description):
            self.description = description
            problems += description.schema.problems.map { "its schema: \($0)" }
            isUsable = program.hiddenBy == nil && !isReserved
        case .failure(let fault):
            description = nil
            problems.append("it \(fault.message)" + (fault.hint.map { "; \($0)" } ?? ""))
            isUsable = false
        }
        self.problems = problems
    }

    /// The form of `pipeline plugins --json`.
    package var json: JSON {
        [
            "name": .string(program.name), "type": .string(program.role.rawValue), "path": .string(program.path),
            "usable": .bool(isUsable), "version": JSON(description?.version), "summary": JSON(description?.summary),
            "captures": .array(description?.captures.map { .string($0.name) } ?? []),
            "schema": description?.schema.json ?? .null, "problems": .array(problems.map { .string($0) }),
        ]
    }
}
