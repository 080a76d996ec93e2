import ArgumentParser
import JSONPath
import PipelineCore
import PipelineEngine
import PipelineKit

/// `pipeline run`: starts a job and stays with it.
struct RunCommand: WorkspaceCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Start a job and stay with it until it ends.",
        discussion: """
            With --key a job that ended is not done again: its result is printed once more, with its status; with \
            --retry-failed what failed of it begins anew.

            On success the path of each file written goes to standard output, one a line. Ctrl-C suspends the job; \
            'pipeline resume' goes on.

            Example: pipeline run selfie.json -i video=me.y4m --output results
            Example: pipeline run selfie.json --each video='faces/*.mov' --batch faces
            """)

    @OptionGroup var common: CommonOptions

    @Argument(help: "The pipeline file.", completion: .pipelines)
    var file: String

    @OptionGroup var given: InputOptions

    @OptionGroup var destination: OutputOptions

    @Option(help: "The job's own name: a second run with the same key joins the first.")
    var key: String?

    @OptionGroup var many: BatchOptions

    @OptionGroup var driving: DrivingOptions

    func validate() throws {
        if many.retryFailed, key == nil, !many.isBatch {
            throw ValidationError("--retry-failed needs --key or --each: it is about the job of that key, or a batch")
        }
        try StandardInput.check(many.pipes.map { "--each \($0)" } + InputOptions.pipes(given.input))
    }

    func run(in workspace: Workspace, console: Console) async throws -> ExitStatus {
        if let key, !NameGrammar.jobKey.accepts(key) {
            throw CommandError(.usage, "'\(key)' is not a valid job key", hint: NameGrammar.jobKey.hint)
        }
        if many.isBatch { try checkBatch() }
        let draft = try JobDraft(
            path: file, catalogue: await workspace.catalogue(for: try JobDraft.source(at: file)),
            given: try given.values(),
            environment: workspace.settings.environment, standardInput: StandardInput.text,
            allowsMissingInputs: many.isBatch)
        if driving.detach { try Detachment(workspace, console).check() }
        let journal = try workspace.openJournal()
        let session = JobSession(workspace, journal, console, options: driving.session(common, console))
        if many.isBatch {
            let folder = try destination.folder()
            if driving.detach, many.results != nil, workspace.settings.journalAddress != nil {
                throw CommandError(
                    .usage, "--results is written where the batch runs, and with --detach that is any machine",
                    hint: "leave it out; 'pipeline results BATCH' prints the rows anywhere")
            }
            return try await BatchSession(session, isDetached: driving.detach).run(draft, many, output: folder)
        }
        if let earlier = try await earlier(in: journal) { return try await join(earlier, draft, session) }
        do {
            return try await start(draft, session)
        } catch JournalFailure.keyTaken {
            // Another run with the key was faster by a moment.
            guard let earlier = try await earlier(in: journal) else { throw JournalFailure.busy }
            return try await join(earlier, draft, session)
        }
    }

    private func checkBatch() throws {
        if key != nil {
            throw CommandError(.usage, "--key names one job; a batch is named by --batch", hint: "write --batch KEY")
        }
    }

    /// The job that has the key.
    private func earlier(in journal: Workspace.Journal) async throws -> OwnedJob? {
        guard let key, let found = try await journal.jobs(JobQuery(key: key)).first else { return nil }
        // A batch and the jobs of its items are gone on with by --batch alone.
        if let item = found.snapshot.record.item {
            throw CommandError(
                .invalid, "the key '\(key)' belongs to the item '\(item.key)' of a batch", hint: "choose another --key")
        }
        if found.snapshot.batch != nil {
            throw CommandError(.invalid, "the key '\(key)' belongs to a batch", hint: "choose another --key")
        }
        return found
    }

    private func start(_ draft: JobDraft, _ session: JobSession) async throws -> ExitStatus {
        let (workspace, journal, console) = (session.workspace, session.journal, session.console)
        if !draft.plan.warnings.diagnostics.isEmpty { console.note(draft.plan.warnings.text) }
        let folder = try destination.folder()
        let record = draft.record(
            id: workspace.newJobID(), key: key, started: journal.clock.now, outputFolder: folder,
            overwrites: driving.overwrite)
        try await session.checkSecrets(of: draft.plan, for: record)
        PublicAddressNote(of: draft.plan, workspace.settings, driving.detach ? .detached : .attached)?.show(on: console)
        let earlier = JobQuery(pipeline: record.pipeline, limit: 100, isBrief: true)
        let preflight = await draft.preflight(to: record) { path in
            let jobs = (try? await journal.jobs(earlier)) ?? []
            return jobs.flatMap(\.snapshot.files).filter { $0.path == path }
        }
        if let failure = preflight { throw CommandError(.invalid, failure) }
        UnsetVariableNote(of: draft.plan, draft.environment)?.show(on: console)
        if driving.detach {
            let engine = try workspace.engine(journal: journal, secrets: try workspace.secrets()) { _ in }
            try await engine.submit(record, plan: draft.plan)
            return try await Detachment(workspace, console).hand(
                record.id, plan: draft.plan, secretInputs: draft.secretInputs, isJournaled: true)
        }
        return try await session.drive(job: record.id, plan: draft.plan, secretInputs: draft.secretInputs) {
            engine throws(JournalFailure) in
            try await engine.start(
                record, plan: draft.plan, mode: driving.mode, interactivity: driving.interactivity(console),
                secretInputs: draft.secretInputs)
        }
    }

    /// The second run with a key: the same document and inputs join the first job, others are an error.
    private func join(_ earlier: OwnedJob, _ draft: JobDraft, _ session: JobSession) async throws -> ExitStatus {
        let record = earlier.snapshot.record
        let fresh = draft.record(
            id: record.id, key: key, started: record.started, outputFolder: record.folders.output,
            overwrites: driving.overwrite
        )
        if let difference = StartDifference(from: record, to: fresh) {
            let what = difference.input.map { "whose input '\($0)' differs" } ?? "started from another document"
            throw CommandError(
                .invalid, "the key '\(record.key)' belongs to job \(record.id), \(what)",
                hint: "\(difference.change); choose another --key"
                    + (difference.input == nil ? ", or go on with it by '\(ChangeNote.command(of: record))'" : ""))
        }
        if driving.detach {
            let isSuspended = earlier.snapshot.phase(isOwned: false) == .suspended
            let beginsAnew = many.retryFailed && earlier.snapshot.ended != nil && earlier.snapshot.hasFailures
            if earlier.owner == nil, isSuspended || beginsAnew {
                return try await Detachment(session.workspace, session.console).hand(
                    record.id, plan: draft.plan, secretInputs: draft.secretInputs, retriesFailed: beginsAnew,
                    ended: earlier.snapshot.ended, isJournaled: true)
            }
            session.console.data(record.id.text)
            return .succeeded
        }
        var found: OwnedJob? = earlier
        while let job = found {
            do {
                return try await stay(with: job, draft, session)
            } catch JournalFailure.owned {
                // Another process took it up in the same moment.
                found = try await self.earlier(in: session.journal)
            }
        }
        throw JournalFailure.noSuchJob(record.id)
    }

    private func stay(with job: OwnedJob, _ draft: JobDraft, _ session: JobSession) async throws -> ExitStatus {
        if job.owner == nil, job.snapshot.ended != nil {
            guard many.retryFailed, job.snapshot.hasFailures else { return try await session.showEnd(of: job) }
            return try await session.resume(
                job, plan: draft.plan, secretInputs: draft.secretInputs, again: .failed)
        }
        guard let latest = job.owner == nil ? job : try await session.join(job, plan: draft.plan) else {
            return .suspended
        }
        if latest.snapshot.ended != nil { return session.summarize(latest.snapshot) }
        if latest.snapshot.phase(isOwned: false) == .unknown { return try await session.refuseUnknown(latest.snapshot) }
        // Somebody paused it while this process looked on: it is not for this one to go on with it.
        if job.owner != nil, latest.snapshot.cause == .paused {
            return try await session.report(.suspended(.paused), of: latest.snapshot.record.id, draft.plan)
        }
        return try await session.resume(latest, plan: draft.plan, secretInputs: draft.secretInputs, again: .nothing)
    }
}
