import ArgumentParser
import JSONPath
import PipelineCore
import PipelineEngine
import PipelineKit

/// `pipeline cancel`: ends jobs, at their services too.
struct CancelCommand: WorkspaceCommand {
    static let configuration = CommandConfiguration(
        commandName: "cancel", abstract: "Cancel jobs, and what they have begun at their services.",
        discussion: "Example: pipeline cancel last")

    @OptionGroup var common: CommonOptions

    @OptionGroup var named: NamedJobs

    func run(in workspace: Workspace, console: Console) async throws -> ExitStatus {
        let journal = try workspace.journalWithJobs()
        for name in named.jobs {
            let job = try await JobName(name).find(in: journal)
            try await cancel(job, journal, workspace, console)
        }
        return .succeeded
    }

    private func cancel(
        _ job: OwnedJob, _ journal: Workspace.Journal, _ workspace: Workspace, _ console: Console
    ) async throws {
        let record = job.snapshot.record
        let phase = job.snapshot.phase(isOwned: job.owner != nil)
        if phase.isEnded {
            console.note("job \(record.id) has \(phase.rawValue == "succeeded" ? "succeeded" : "ended") already")
            return
        }
        if try await journal.post(.cancel, to: record.id) {
            console.note("job \(record.id): its process was told to cancel")
            return
        }
        // Nobody has the job: this process takes it up for as long as cancelling takes.
        let plan = try await workspace.plan(of: record)
        let engine = try workspace.engine(journal: journal, secrets: try workspace.secrets()) { event in
            if let line = EventLine(event).text { console.note(line) }
        }
        let drive = try await engine.resume(
            record.id, plan: plan, mode: .attached,
            attendance: console.attendance)
        drive.cancel()
        guard case .suspended(let cause) = try await drive.run() else { return }
        throw CommandError(
            .suspended, "job \(record.id) is not cancelled: \(cause.explanation)",
            hint: "'pipeline why \(record.id)' says what it needs; then cancel it again")
    }
}
