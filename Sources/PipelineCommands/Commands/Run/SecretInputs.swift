import JSONPath
import PipelineCore
import PipelineKit

/// The values of a resumed job's secret inputs: kept nowhere, so given again or found where secrets are found.
struct SecretInputs {
    let plan: Plan
    let record: JobRecord
    let assignments: [String]

    private var secret: [InputDefinition] { plan.definition.inputs.filter(\.isSecret) }

    /// The values of all that are needed.
    func values() throws -> JSONObject {
        let given = try given()
        if let input = secret.first(where: { $0.fallback == nil && given[$0.name] == nil }) {
            throw CommandError(
                .suspended, "the secret input '\(input.name)' is kept nowhere and is needed again",
                hint: "pipeline resume \(record.id) -i \(input.name)=…")
        }
        return given
    }

    /// The values of those that were given.
    func given() throws -> JSONObject {
        let given = try assignments.map { text -> (name: String, value: String) in
            guard let equals = text.unicodeScalars.firstIndex(of: "=") else {
                throw CommandError(.usage, "'-i \(text)' has no NAME= before its value", hint: "write -i NAME=VALUE")
            }
            return (String(text[..<equals]), String(text[text.unicodeScalars.index(after: equals)...]))
        }
        for (name, _) in given where !secret.contains(where: { $0.name == name }) {
            throw CommandError(
                .invalid, "the input '\(name)' is fixed since the job started",
                hint: "only secret inputs are given again; start a new job for other values")
        }
        return JSONObject(given.map { ($0.name, JSON.string($0.value)) })
    }
}

extension Workspace {
    /// Returns what to say of a secret that a job of the plan needs and that is nowhere; nil when all are there.
    func missingSecret(of plan: Plan, for record: JobRecord) async throws -> CommandError? {
        let secrets = try secrets()
        var missing: [String] = []
        for name in plan.secrets where record.needsSecret(name, in: plan) {
            if await secrets.secret(name) == nil { missing.append(name) }
        }
        guard let first = missing.first else { return nil }
        let title =
            missing.count == 1
            ? "the secret \(first) is not set"
            : "\(missing.count) secrets are not set: \(missing.joined(separator: ", "))"
        let ways = "set PIPELINE_SECRET_\(first), or give a file with --secrets-file"
        let problem = secrets.problem(of: first)
        return CommandError(
            .invalid, problem.map { "\(title), and \($0)" } ?? title,
            hint: problem == nil ? ways : "mend the command of the configuration ('pipeline config'), or \(ways)")
    }
}
