import ArgumentParser
import JSONPath
import PipelineCore
import PipelineEngine
import PipelineKit

/// `pipeline cancel`: ends jobs, at their services too.
struct CancelCommand: WorkspaceCommand {
    static let configuration = CommandConfiguration(
        commandName: "cancel", abstract: "Cancel jobs, and what they have begun at their services.",
        discussion: """
            With --local the job ends without a word to its services: for one whose secrets are gone.

            Example: pipeline cancel last
            """)

    @OptionGroup var common: CommonOptions

    @OptionGroup var named: NamedJobs

    @Flag(help: "End a job that no process runs here only: what it began at its services goes on.")
    var local = false

    @OptionGroup var secrets: SecretInputOptions

    func run(in workspace: Workspace, console: Console) async throws -> ExitStatus {
        let journal = try workspace.journalWithJobs()
        return await named.forEach(
            in: journal, console,
            item: { item, batch in
                if try await cancel(item, of: batch, journal, console) { return }
                // It was begun at this very moment.
                let begun = try await JobName("\(batch.key)/\(item.key)").find(in: journal)
                try await cancel(begun, journal, workspace, console)
            },
            { job in try await cancel(job, journal, workspace, console) })
    }

    /// Cancels an item that no process has begun: it has nothing at a service. False for one that is begun by now.
    private func cancel(
        _ item: ItemRecord, of batch: JobRecord, _ journal: Workspace.Journal, _ console: Console
    ) async throws -> Bool {
        let name = "item \(item.key) of batch \(batch.key)"
        if item.state.isEnded {
            console.note("\(SafeText.line(name)) has ended already")
            return true
        }
        guard try await journal.cancelItem(item.number, at: journal.clock.now, of: batch.id) else { return false }
        console.note("\(SafeText.line(name)) is cancelled; it was not begun")
        return true
    }

    private func cancel(
        _ job: OwnedJob, _ journal: Workspace.Journal, _ workspace: Workspace, _ console: Console
    ) async throws {
        let record = job.snapshot.record
        let phase = job.phase
        if phase.isEnded {
            // A retry of the batch has it wait for its turn to begin again.
            if let own = record.item, let batch = try await journal.snapshot(of: own.batch)?.record,
                let item = try await journal.item(own.key, of: own.batch), item.state == .pending,
                try await cancel(item, of: batch, journal, console)
            {
                return
            }
            if !local, try await removeLeft(by: job, journal, workspace, console) { return }
            console.note("job \(record.id) has \(phase.rawValue == "succeeded" ? "succeeded" : "ended") already")
            return
        }
        // What is refused is not asked of the job: it would be cancelled when somebody goes on with it.
        let known = job.owner == nil ? try await inputs(of: job.snapshot, workspace) : nil
        if try await journal.post(.cancel, to: record.id) {
            console.note("job \(record.id): its process was told to cancel")
            guard let left = try await leftAlone(job, journal) else { return }
            console.note("job \(record.id): its process is gone; it is cancelled here")
            return try await takeUp(left, try await inputs(of: left.snapshot, workspace), journal, workspace, console)
        }
        do {
            try await takeUp(job, known, journal, workspace, console)
        } catch JournalFailure.owned where !local {
            console.note("job \(record.id): the process that has just taken it up cancels it")
        }
    }

    /// Removes what a job that has ended left at its services; false where there is nothing.
    private func removeLeft(
        by job: OwnedJob, _ journal: Workspace.Journal, _ workspace: Workspace, _ console: Console
    ) async throws -> Bool {
        let id = job.snapshot.record.id
        guard job.owner == nil, job.snapshot.batch == nil, let whole = try await journal.snapshot(of: id),
            let plan = try? await workspace.plan(of: whole.record), !whole.workLeft(in: plan).isEmpty
        else { return false }
        let engine = try workspace.engine(journal: journal, secrets: try workspace.secrets()) { event in
            if let line = EventLine(event).text { console.note(line) }
        }
        guard try await engine.removeLeft(by: id, plan: plan, secretInputs: try await inputs(of: whole, workspace))
        else {
            console.note("job \(id) has ended already; what it had left at its service is removed there")
            return true
        }
        throw CommandError(
            .failed, "job \(id) has ended already, and what it left at its service could not be removed there",
            hint: "the same command asks the service once more")
    }

    /// Waits for what becomes of a job that ran at a terminal of another machine: a process that is gone owns it until its
    /// lease is over, and nobody but a person takes it up after that. Returns the job then; nil where it heard.
    private func leftAlone(_ job: OwnedJob, _ journal: Workspace.Journal) async throws -> OwnedJob? {
        guard journal.shared != nil, job.snapshot.mode == .attached else { return nil }
        let id = job.snapshot.record.id
        for _ in 0..<Self.looks {
            guard let now = try await journal.jobs(JobQuery(prefix: id.text)).first, now.snapshot.ended == nil,
                now.snapshot.request == .cancel
            else { return nil }
            if now.owner == nil { return now }
            try await JobFollower.pause(.milliseconds(500))
        }
        return nil
    }

    /// A lease lives for 30 s.
    private static let looks = 80

    /// Nobody has the job: this process takes it up for as long as cancelling takes.
    private func takeUp(
        _ job: OwnedJob, _ known: JSONObject?, _ journal: Workspace.Journal, _ workspace: Workspace, _ console: Console
    ) async throws {
        let record = job.snapshot.record
        let plan = try await workspace.plan(of: record)
        let inputs = if let known { known } else { try await inputs(of: job.snapshot, workspace) }
        let engine = try workspace.engine(journal: journal, secrets: try workspace.secrets()) { event in
            if let line = EventLine(event).text { console.note(line) }
        }
        if job.snapshot.batch != nil {
            if local { try await endItems(of: record.id, plan, by: engine, journal) }
            let options = JobSession.Options(isJSON: false, isPlain: true, overwrites: false)
            try await BatchSession(JobSession(workspace, journal, console, options: options))
                .cancel(job.snapshot, secretInputs: inputs)
            console.note("batch \(record.key) is cancelled")
            if let open = try await CancelledItemsNote.line(of: job.snapshot, journal) { console.note(open) }
            return
        }
        if local {
            _ = try await engine.takeToEnd(record.id, plan: plan).run()
            return
        }
        let drive = try await engine.resume(
            record.id, plan: plan, mode: .attached, interactivity: console.interactivity, secretInputs: inputs)
        drive.cancel()
        guard case .suspended(let cause) = try await drive.run() else { return }
        throw notTold(record.id, cause.explanation, nil)
    }

    /// The values of the secret inputs with which services are told; what they read of secrets must be there.
    private func inputs(of job: JobSnapshot, _ workspace: Workspace) async throws -> JSONObject {
        let record = job.record
        let plan = try await workspace.plan(of: record)
        if local { return try await secrets.assignments.known(of: record, in: plan, workspace) }
        // Of a batch each item asks for its own.
        if job.batch == nil, let missing = try await workspace.missingSecret(of: plan, for: record) {
            throw notTold(record.id, missing.failure.title, missing.failure.hint)
        }
        do {
            return try await secrets.assignments.values(of: record, in: plan, workspace)
        } catch let error as CommandError where error.status == .suspended {
            throw notTold(record.id, error.failure.title, error.failure.hint)
        }
    }

    /// Ends what was begun of a batch's items here only.
    private func endItems(
        of batch: JobID, _ plan: Plan, by engine: Engine, _ journal: Workspace.Journal
    ) async throws {
        let begun: Set<ItemRecord.State> = [.running, .suspended, .unknown]
        for item in try await journal.items(of: batch, in: begun, after: 0, limit: .max) {
            guard let job = item.job else { continue }
            _ = try await engine.takeToEnd(job, plan: plan).run()
        }
    }

    private func notTold(_ job: JobID, _ reason: String, _ hint: String?) -> CommandError {
        CommandError(
            .suspended, "job \(job) is not cancelled: its services are to be told, and \(reason)",
            hint: (hint.map { "\($0); " } ?? "") + "'pipeline cancel \(job) --local' ends it here only")
    }
}
