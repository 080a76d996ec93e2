import ArgumentParser
import Assertions
import CLibrary
import PipelineCore
import PipelineJournal
import PipelineKit

/// `pipeline doctor`: looks whether everything is as it should be.
struct DoctorCommand: WorkspaceCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor", abstract: "Check the journal, its jobs and what they left behind; changes nothing.",
        discussion: "Example: pipeline doctor")

    @OptionGroup var common: CommonOptions

    @Option(help: ArgumentHelp("Also write a copy of the journal there.", valueName: "file"), completion: .file())
    var backup: String?

    @Option(
        help: ArgumentHelp("Write what can be sent about mistakes of the program itself, redacted.", valueName: "file"),
        completion: .file())
    var report: String?

    func run(in workspace: Workspace, console: Console) async throws -> ExitStatus {
        console.data("version   \(ProgramVersion.program)")
        console.data("libraries \(ProgramVersion.libraries)")
        console.data("state     \(workspace.settings.stateFolder)")
        if let address = workspace.settings.journalAddress {
            console.data("database  \(SafeText.line(PostgresJournal.place(of: address)))")
        }
        showAssertions(of: workspace, on: console)
        if let report { try write(AssertionReport(settings: workspace.settings), to: report, console) }
        guard let journal = try workspace.existingJournal() else {
            console.data("journal   none yet")
            return .succeeded
        }
        let problems = try await journal.checkIntegrity()
        console.data("journal   " + (problems.isEmpty ? "whole" : "\(problems.count) problem(s)"))
        for problem in problems { console.data("  \(SafeText.line(problem))") }
        if let shared = journal.shared {
            let isSealing = workspace.settings.environment["PIPELINE_JOURNAL_KEY"]?.isEmpty == false
            console.data(
                "sealing   "
                    + (isSealing
                        ? "by PIPELINE_JOURNAL_KEY, of what repeats a secret; secret captures stand there as they came"
                        : "none: PIPELINE_JOURNAL_KEY is not set"))
            for worker in try await shared.workers() {
                console.data("worker    \(worker.name) on \(worker.host), \(worker.isAlive ? "alive" : "gone")")
            }
        }
        let jobs = try await journal.jobs(JobQuery(isBrief: true))
        for phase in JobPhase.allCases {
            let count = jobs.count { $0.phase == phase }
            if count > 0 { console.data("jobs      \(count) \(phase.rawValue)") }
        }
        for job in jobs {
            if let owner = job.owner { console.data("lease     \(job.snapshot.record.id) owned by \(owner.text)") }
        }
        let now = SystemClock().now
        for service in try await journal.closedServices() {
            console.data("closed    \(SafeText.line(service.line(now: now)))")
        }
        for line in try await LeftParts(of: jobs, in: journal).lines { console.data(SafeText.line(line)) }
        if let backup {
            do throws(JournalFailure) {
                try await journal.backup(to: AbsolutePath.of(backup, in: AbsolutePath.workingDirectory))
            } catch {
                guard case .notWritable(_, let reason) = error else { throw error }
                throw CommandError(
                    .failed, "there is no backup: \(reason)", hint: "name a file with --backup that is not there yet")
            }
            console.data("backup    \(backup)")
        }
        return problems.isEmpty ? .succeeded : .failed
    }

    /// Shows what should never have happened, and did.
    private func showAssertions(of workspace: Workspace, on console: Console) {
        let entries = AssertionFiles(settings: workspace.settings).entries
        for entry in entries {
            let failure = entry.failure
            let job = failure.job.map { ", job \($0)" } ?? ""
            let count = entry.count == 1 ? "" : " \(entry.count) times"
            let place = "\(failure.file):\(failure.line)\(count), last \(entry.last)\(job)"
            console.data("mistake   \(place): \(SafeText.line(failure.message))")
        }
        if !entries.isEmpty, report == nil {
            console.note("hint: mistakes of pipeline itself; 'pipeline doctor --report FILE' writes what can be sent")
        }
    }

    private func write(_ report: AssertionReport, to path: String, _ console: Console) throws {
        let bytes = Array((report.json.prettyText() + "\n").utf8)
        guard FileContent.write(bytes, to: AbsolutePath.of(path, in: AbsolutePath.workingDirectory)) else {
            throw CommandError(.failed, "there is no report: \(FileContent.reason)", hint: "name another file")
        }
        console.data("report    \(path)")
    }
}
