import JSONPath
import PipelineCore
import PipelineKit

/// Hands a job over to the background owner, which is started when there is none.
struct Detachment {
    private let workspace: Workspace
    private let console: Console

    init(_ workspace: Workspace, _ console: Console) {
        self.workspace = workspace
        self.console = console
    }

    /// Fails before anything begins when nobody could take the job: the background owner is a program of its own.
    func check() throws {
        do throws(StepFailure) {
            try BackgroundOwner(settings: workspace.settings).checkAvailable()
        } catch {
            throw CommandError(
                .usage, "--detach needs the background owner: \(error.title)",
                hint: (error.hint.map { "\($0); " } ?? "") + "without --detach the command stays with the job itself")
        }
    }

    /// Hands the job over, with the values of the secrets that its plan names, and prints its id.
    ///
    /// A job that `isJournaled` by now is safe whatever becomes of the owner: that it could not be reached is said, and
    /// is no failure.
    func hand(
        _ job: JobID, plan: Plan, secretInputs: JSONObject, retriesFailed: Bool = false, isJournaled: Bool = false
    ) async throws -> ExitStatus {
        var values = HandedValues(inputs: secretInputs)
        let secrets = try workspace.secrets()
        for name in plan.secrets {
            if let value = await secrets.secret(name) { values.secrets[name] = .string(value) }
        }
        do throws(StepFailure) {
            let owner = BackgroundOwner(settings: workspace.settings)
            _ = try owner.askStarting(.take(job, values, retriesFailed: retriesFailed))
        } catch {
            guard isJournaled else { throw CommandError(.suspended, error.title, hint: error.hint) }
            console.note("warning: \(error.title)" + (error.hint.map { " (\($0))" } ?? ""))
            console.note("job \(job) is kept; it begins with 'pipeline daemon' or 'pipeline resume \(job)'")
        }
        console.data(job.text)
        return .succeeded
    }
}
