import JSONPath
import PipelineCore
import PipelineKit
import Synchronization

/// `-i NAME=VALUE` as it was given for the secret inputs of all jobs that a command goes on with.
final class SecretAssignments: Sendable {
    private let texts: [String]
    /// Read once, whatever the number of jobs.
    private let standardInput = Mutex<String??>(nil)

    init(_ texts: [String]) { self.texts = texts }

    /// The values of a job's secret inputs, those that were given and those that are found; throws for one that is nowhere.
    func values(of record: JobRecord, in plan: Plan, _ workspace: Workspace) async throws -> JSONObject {
        let values = try await known(of: record, in: plan, workspace)
        if let name = SecretInputs(of: record, in: plan).missing(in: values).first {
            throw CommandError(
                .suspended, "the secret input '\(name)' is kept nowhere and is needed again",
                hint: "give it to the same command with -i \(name)=…, or name it in a file with --secrets-file")
        }
        return values
    }

    /// The values that were given and those that are found; what is nowhere is left out.
    func known(of record: JobRecord, in plan: Plan, _ workspace: Workspace) async throws -> JSONObject {
        try await SecretInputs(of: record, in: plan).values(
            assignments: try texts.map { try InputOptions.assignment($0) }, secrets: try workspace.secrets(),
            standardInput: { [self] in readStandardInput() })
    }

    private func readStandardInput() -> String? {
        standardInput.withLock { known in
            if case .some(let text) = known { return text }
            let text = StandardInput.text()
            known = .some(text)
            return text
        }
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
        if let slip = secrets.slip(of: first) {
            return CommandError(.invalid, "\(title): \(slip)", hint: "write \(first)=value in that line")
        }
        let ways = "set PIPELINE_SECRET_\(first), or give a file with --secrets-file"
        let problem = secrets.problem(of: first)
        return CommandError(
            .invalid, problem.map { "\(title), and \($0)" } ?? title,
            hint: problem == nil ? ways : "mend the command of the configuration ('pipeline config'), or \(ways)")
    }

    /// Returns the names of a job's secret inputs that are found nowhere: they are to be given again.
    func missingInputs(of plan: Plan, for record: JobRecord) async throws -> [String] {
        let inputs = SecretInputs(of: record, in: plan)
        do {
            let values = try await inputs.values(secrets: try secrets())
            return inputs.missing(in: values)
        } catch is InputsError {
            // One that is found and is wrong is told by the command that needs it.
            return []
        }
    }
}
