import JSONPath
import PipelineCore
import PipelineKit

/// The values of a resumed job's secret inputs: kept nowhere, so given again or found where secrets are found.
struct SecretInputs {
    let plan: Plan
    let record: JobRecord
    let assignments: [String]

    func values() throws -> JSONObject {
        let secret = plan.definition.inputs.filter(\.isSecret)
        guard !secret.isEmpty || !assignments.isEmpty else { return [:] }
        let given = try assignments.map { text -> (name: String, value: String) in
            guard let equals = text.firstIndex(of: "=") else {
                throw CommandError(.usage, "'-i \(text)' has no NAME= before its value", hint: "write -i NAME=VALUE")
            }
            return (String(text[..<equals]), String(text[text.index(after: equals)...]))
        }
        for (name, _) in given where !secret.contains(where: { $0.name == name }) {
            throw CommandError(
                .invalid, "the input '\(name)' is fixed since the job started",
                hint: "only secret inputs are given again; start a new job for other values")
        }
        let missing = secret.filter { input in input.fallback == nil && !given.contains { $0.name == input.name } }
        if let input = missing.first {
            throw CommandError(
                .suspended, "the secret input '\(input.name)' is kept nowhere and is needed again",
                hint: "pipeline resume \(record.id) -i \(input.name)=…")
        }
        return JSONObject(given.map { ($0.name, JSON.string($0.value)) })
    }
}
