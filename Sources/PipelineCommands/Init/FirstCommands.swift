import CLibrary
import PipelineCore

/// The commands to type for a pipeline file that was just written: its inputs that have no value yet are named.
struct FirstCommands {
    private let path: String
    private let inputs: [InputDefinition]
    private let secrets: [String]

    /// - Parameters:
    ///   - plan: of the file.
    ///   - path: of the file, as the person sees it; in the working directory.
    init(_ plan: Plan, path: String) {
        self.path = ShellWord.quoted(path)
        inputs = plan.definition.inputs.filter { input in
            guard let fallback = input.fallback else { return true }
            // A default that names a file of the folder which the example comes from.
            guard input.kind == .file, let file = fallback.constant?.string else { return false }
            return access(file, R_OK) != 0
        }
        secrets = plan.secrets.filter { !plan.optionalSecrets.contains($0) }
    }

    var lines: [String] {
        let given = inputs.map { " -i \($0.name)=\($0.kind.placeholder)" }.joined()
        var lines = [
            "shows what it would do:  pipeline plan \(path)\(given)",
            "does it:                 pipeline run \(path)\(given)",
        ]
        if !secrets.isEmpty {
            lines.append("needs the secrets:       \(secrets.map { "PIPELINE_SECRET_\($0)" }.joined(separator: ", "))")
        }
        return lines
    }
}

extension InputDefinition.Kind {
    /// The words that stand for a value of the kind in a line to type.
    fileprivate var placeholder: String {
        switch self {
        case .file: "FILE"
        case .files: "'FOLDER/*'"
        case .url: "URL"
        case .string: "TEXT"
        case .number: "NUMBER"
        case .boolean: "true"
        case .json: "JSON"
        }
    }
}
