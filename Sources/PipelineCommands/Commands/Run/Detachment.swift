import JSONPath
import PipelineCore
import PipelineEngine
import PipelineJournal
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
        // Workers are elsewhere, now or later.
        if workspace.settings.journalAddress != nil { return }
        do throws(StepFailure) {
            try BackgroundOwner(settings: workspace.settings).checkAvailable()
        } catch {
            throw CommandError(
                .usage, "--detach needs the background owner: \(error.title)",
                hint: (error.hint.map { "\($0); " } ?? "") + "without --detach the command stays with the job itself")
        }
    }

    /// Hands the job over, with the values of the secrets that its plan names, and prints its id, or the name that is given.
    ///
    /// A job that `isJournaled` by now is safe whatever becomes of the owner: that it could not be reached is said, and
    /// is no failure.
    func hand(
        _ job: JobID, plan: Plan, secretInputs: JSONObject, retriesFailed: Bool = false, ended: Timestamp? = nil,
        isJournaled: Bool = false, name: String? = nil
    ) async throws -> ExitStatus {
        if workspace.settings.journalAddress != nil {
            return try await leave(
                job, plan: plan, secretInputs: secretInputs, retriesFailed: retriesFailed, isNew: isJournaled,
                name: name)
        }
        let values = await HandedValues(of: plan, from: try workspace.secrets(), inputs: secretInputs)
        do throws(StepFailure) {
            let owner = BackgroundOwner(settings: workspace.settings)
            _ = try owner.askStarting(.take(job, values, retriesFailed: retriesFailed, ended: ended))
        } catch {
            guard isJournaled else { throw CommandError(.suspended, error.title, hint: error.hint) }
            console.note("warning: \(error.title)" + (error.hint.map { " (\($0))" } ?? ""))
            let name = name ?? job.text
            console.note("job \(name) is kept; it begins with 'pipeline daemon' or 'pipeline resume \(name)'")
        }
        console.data(name ?? job.text)
        return .succeeded
    }

    /// Leaves the job in a journal that many machines share, for a worker to claim. Workers have secrets of their own.
    private func leave(
        _ job: JobID, plan: Plan, secretInputs: JSONObject, retriesFailed: Bool, isNew: Bool, name: String?
    ) async throws -> ExitStatus {
        let journal = try workspace.openJournal()
        guard let found = try await journal.snapshot(of: job) else { throw JournalFailure.noSuchJob(job) }
        // A default that holds is there for every owner.
        if secretInputs.names.contains(where: { !found.record.beginning.defaultedInputs.contains($0) }) {
            let hint = "make them secrets of the document, which each worker has, or leave --detach out"
            guard isNew else {
                throw CommandError(.usage, "values of secret inputs are given to no worker", hint: hint)
            }
            console.note("warning: values of secret inputs are given to no worker; the job waits for them")
            console.note("  hint: \(hint)")
        }
        if retriesFailed || found.mode != .background || found.cause != nil {
            let engine = try workspace.engine(journal: journal, secrets: try workspace.secrets()) { _ in }
            let handle = try await engine.resume(
                job, plan: plan, mode: .background, secretInputs: secretInputs,
                again: retriesFailed ? .failed : .nothing)
            try await journal.release(handle.lease)
        }
        let workers = try await journal.shared?.workers() ?? []
        if !workers.contains(where: { $0.isAlive && $0.atOnce != nil }) {
            console.note("no worker is running; the job begins with the first 'pipeline worker'")
        }
        await journal.close()
        console.data(name ?? job.text)
        return .succeeded
    }
}

extension JobSession {
    /// Hands a job over to the background owner, once it is known that none of its secrets is missing.
    func hand(
        _ job: JobSnapshot, _ plan: Plan, _ secretInputs: SecretAssignments, retriesFailed: Bool
    ) async throws -> ExitStatus {
        try await checkSecrets(of: plan, for: job.record)
        let again: RestartScope = retriesFailed ? .failed : .nothing
        ChangeNote.all(of: job, begunAnew: again.begunAnew(in: plan)).forEach { $0.show(on: console) }
        let inputs = try await secretInputs.values(of: job.record, in: plan, workspace)
        return try await Detachment(workspace, console).hand(
            job.record.id, plan: plan, secretInputs: inputs, retriesFailed: retriesFailed, ended: job.ended)
    }

    /// The whole of a job that was found in brief.
    func whole(_ brief: OwnedJob) async throws -> OwnedJob {
        let id = brief.snapshot.record.id
        guard let job = try await journal.jobs(JobQuery(prefix: id.text)).first else {
            throw JournalFailure.noSuchJob(id)
        }
        return job
    }
}
