package import JSONPath
package import PipelineCore

/// The values of a job's secret inputs, which no journal keeps: as they are given again, from where secrets are found, or the
/// defaults that held when the job started. They are read as those of a new job are.
package struct SecretInputs {
    private let record: JobRecord
    private let definition: PipelineDefinition
    private var secret: [InputDefinition] { definition.inputs.filter(\.isSecret) }

    package init(of record: JobRecord, in plan: Plan) {
        self.record = record
        definition = plan.definition
    }

    /// All values that there are; throws everything that is wrong with them.
    ///
    /// - Parameters:
    ///   - known: values that were read before, such as those that were handed over with the job.
    ///   - assignments: the text after `-i NAME=`.
    ///   - secrets: who is asked for what neither gives and has no default that holds.
    ///   - standardInput: what `@-` stands for.
    package func values(
        known: JSONObject = [:], assignments: [(name: String, value: String)] = [], secrets: any SecretSource,
        standardInput: @escaping () -> String? = { nil }
    ) async throws(InputsError) -> JSONObject {
        let fixed = assignments.map(\.name).filter { name in !secret.contains { $0.name == name } }
        if !fixed.isEmpty {
            throw InputsError(
                problems: fixed.map { name in
                    StepFailure(
                        "the input '\(name)' is fixed since the job started",
                        hint: "only secret inputs are given again; start a new job for other values")
                })
        }
        var given = GivenInputs(assignments: assignments, document: known)
        var names: Set<String> = []
        for input in secret {
            if !given.has(input.name), !record.beginning.defaultedInputs.contains(input.name) {
                guard let text = await secrets.secret(input.name) else { continue }
                do throws(StepFailure) {
                    given.document[input.name] = try input.value(of: text)
                } catch {
                    throw InputsError(problems: [error])
                }
            }
            names.insert(input.name)
        }
        let folder = record.folders.document
        let scope = Scope(
            env: Dictionary(uniqueKeysWithValues: record.environment.map { ($0.name, $0.value.string) }),
            baseFolder: folder)
        return try InputValues(
            inputs: secret.filter { names.contains($0.name) }, folders: (folder, AbsolutePath.workingDirectory),
            scope: scope, standardInput: standardInput
        ).values(from: given)
    }

    /// The names of those that have no value.
    package func missing(in values: JSONObject) -> [String] { secret.map(\.name).filter { values[$0] == nil } }
}
