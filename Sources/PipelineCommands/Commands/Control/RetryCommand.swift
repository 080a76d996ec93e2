import ArgumentParser
import JSONPath
import PipelineCore
import PipelineEngine
import PipelineKit

/// How much of a job is done again.
struct RetryExtent: ParsableArguments {
    @Option(help: ArgumentHelp("The first stage to do again.", valueName: "stage"), completion: .stages)
    var from: String?

    @Option(help: ArgumentHelp("Only this item: its key in a batch, its number in a forEach.", valueName: "item"))
    var item: String?

    @Flag(
        help: ArgumentHelp(
            "Go on with the document as its file is by now. What has succeeded stays, and has to say what it said; the "
                + "inputs keep their values."))
    var changed = false
}

/// `pipeline retry`: does failed steps again, or everything from a stage on.
struct RetryCommand: WorkspaceCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry", abstract: "Try failed stages again, or everything from a stage on.",
        discussion: """
            With --from the stage and all that need it run as if they never had: a submit is a new one, under a new key; of \
            a batch the items that have failed do so. Several jobs go on side by side.

            Example: pipeline retry last --from model
            Example: pipeline retry last --item 3
            Example: pipeline retry last --changed
            Example: pipeline retry --failed --pipeline selfie
            """)

    @OptionGroup var common: CommonOptions

    @Argument(help: "Jobs: an id, the start of one, a key, or 'last'.", completion: .jobs)
    var jobs: [String] = []

    @Flag(help: "All jobs that have failed.")
    var failed = false

    @Option(
        help: ArgumentHelp("With --failed: only jobs of this pipeline.", valueName: "name"), completion: .pipelineNames)
    var pipeline: String?

    @OptionGroup var extent: RetryExtent

    @Flag(help: "Replace files that exist.")
    var overwrite = false

    @Flag(
        help: "Hand what begins again, with the values of its secrets, to the background owner and end.")
    var detach = false

    @OptionGroup var side: ConcurrencyOptions

    @OptionGroup var secrets: SecretInputOptions

    @OptionGroup var trace: TraceOptions

    @Flag(help: "Write events as JSON Lines.")
    var json = false

    private var from: String? { extent.from }
    private var item: String? { extent.item }

    func validate() throws {
        if item != nil, from != nil {
            throw ValidationError(
                "--item and --from exclude each other: of one item of a batch, 'pipeline retry BATCH/ITEM --from STAGE'."
            )
        }
        if detach, from != nil { throw ValidationError("--detach and --from exclude each other.") }
        if extent.changed, failed || item != nil {
            throw ValidationError("--changed is for jobs that are named, not for \(failed ? "--failed" : "--item").")
        }
        if failed == jobs.isEmpty { return }
        throw ValidationError(
            failed
                ? "Give jobs or --failed, not both."
                : "Missing expected argument '<jobs> ...': name a job, or give --failed.")
    }

    func run(in workspace: Workspace, console: Console) async throws -> ExitStatus {
        let journal = try workspace.journalWithJobs()
        if detach { try Detachment(workspace, console).check() }
        let session = JobSession(
            workspace, journal, console,
            options: JobSession.Options(
                isJSON: json, isPlain: common.plain, overwrites: overwrite, interactivity: console.interactivity,
                verbosity: trace.verbose))
        let given = secrets.assignments
        var jobs: [OwnedJob] = []
        var batches: [BatchRetry.Target] = []
        for (job, key) in try await chosen(in: journal) {
            let retry = BatchRetry(job, item: key ?? item, hasStage: from != nil)
            if let target = try await retry.target(in: journal) {
                batches.add(target)
            } else {
                jobs.append(job)
            }
        }
        if extent.changed {
            guard batches.isEmpty, jobs.allSatisfy({ $0.snapshot.record.item == nil }) else {
                throw CommandError(
                    .usage, "the items of a batch take a mended document together",
                    hint: "type the same 'pipeline run … --each …' again, with --changed --retry-failed")
            }
            if let status = try await adoptDocuments(of: jobs, given, by: session) { return status }
        }
        let resumption = JobResumption(
            session: session, concurrency: side.concurrency, secretInputs: given
        ) { [from, item, extent] job, plans in
            try await Self.decide(
                job, plans, from: from, item: Self.itemOfForEach(item, in: job), isChanged: extent.changed)
        }
        var statuses: [ExitStatus] = []
        if detach {
            for job in jobs { statuses.append(try await hand(job, given, by: session)) }
        } else {
            statuses += try await resumption.run(jobs)
        }
        // A person who stops jobs does not want a batch to begin.
        for target in batches where !session.wasStopped {
            do {
                statuses.append(
                    try await BatchSession(session, isDetached: detach).resume(
                        target.batch, secretInputs: given, retries: true, keys: target.items, from: from))
            } catch {
                // Of several the others have their turn.
                statuses.append(ErrorReport(error).show(on: console))
            }
        }
        return ExitStatus.combined(statuses)
    }

    /// Has jobs go on with their documents as the files are by now: all of them, or none. The status where one can't, told to
    /// the person.
    private func adoptDocuments(
        of jobs: [OwnedJob], _ given: SecretAssignments, by session: JobSession
    ) async throws -> ExitStatus? {
        var mended: [MendedDocument] = []
        var reconciled: [(job: JobRecord, resolutions: [StepKey: Resolution])] = []
        let scope = from.map(RestartScope.from) ?? .failed
        let plans = PlanCache(session.workspace)
        for brief in jobs {
            let job = try await session.whole(brief)
            if let owner = job.owner { throw JournalFailure.owned(by: owner) }
            try await job.checkMachine(in: session.journal, again: scope)
            let record = job.snapshot.record
            let submits = UnknownSubmits(of: job.snapshot, in: session.workspace.exchanges.records(of: record.id))
            let decision = try await Self.decide(job, plans, from: from, item: nil, isChanged: extent.changed)
            let isUnknown = if case .unknown = decision { true } else { false }
            if isUnknown, from != nil || !submits.mayBeReconciled {
                return try await session.refuseUnknown(job.snapshot)
            }
            let document = try await MendedDocument.read(for: job.snapshot, scope, submits, in: session.workspace)
            let own = SourceText(name: record.sourceName, text: record.source)
            let resolutions = document?.resolutions ?? submits.resolutions(by: own)
            if isUnknown, !submits.areReconciled(by: resolutions) {
                return try await session.refuseUnknown(job.snapshot)
            }
            if !resolutions.isEmpty { reconciled.append((document?.record ?? record, resolutions)) }
            guard let document else {
                session.console.note("note: \(SafeText.line(record.sourceName)) is what this job has")
                for note in MendedDocument.notes(on: resolutions) {
                    session.console.note("note: \(SafeText.line(note))")
                }
                continue
            }
            try await session.checkSecrets(of: document.plan, for: document.record)
            _ = try await given.values(of: document.record, in: document.plan, session.workspace)
            let warnings = document.plan.warnings
            if !warnings.diagnostics.isEmpty { session.console.note(warnings.text) }
            UnsetVariableNote(of: document.plan, document.record.environment)?.show(on: session.console)
            mended.append(document)
        }
        for document in mended {
            for note in document.notes { session.console.note("note: \(SafeText.line(note))") }
            try await session.journal.adoptAlone(document)
        }
        for (record, resolutions) in reconciled {
            try await session.workspace.resolve(resolutions, of: record, in: session.journal)
        }
        return nil
    }

    /// The item of a `forEach` that `--item` means in a job; nil for the job of an item of a batch, which it means itself.
    private static func itemOfForEach(_ item: String?, in job: OwnedJob) -> String? {
        job.snapshot.record.item == nil ? item : nil
    }

    /// Has the background owner begin again what failed of a job.
    private func hand(
        _ brief: OwnedJob, _ given: SecretAssignments, by session: JobSession
    ) async throws -> ExitStatus {
        let job = try await session.whole(brief)
        if Self.itemOfForEach(item, in: job) != nil {
            throw CommandError(
                .usage, "--detach begins all again that failed of job \(job.snapshot.record.id)",
                hint: "leave --item or --detach out")
        }
        // One that is under way was begun again already, and would be once more when it fails.
        if job.snapshot.ended == nil, let owner = job.owner { throw JournalFailure.owned(by: owner) }
        switch try await Self.decide(job, PlanCache(session.workspace), from: nil, item: nil) {
        case .rest: return try await session.showEnd(of: job)
        case .unknown: return try await session.refuseUnknown(job.snapshot)
        case .run(let plan, _):
            return try await session.hand(job.snapshot, plan, given, retriesFailed: true)
        }
    }

    /// The jobs to begin again, each once, and the key of an item of a batch where one was named that has no job.
    private func chosen(in journal: Workspace.Journal) async throws -> [(job: OwnedJob, item: String?)] {
        var chosen: [(job: OwnedJob, item: String?)] = []
        for name in jobs { chosen.append(try await BatchRetry.named(name, item: item, in: journal)) }
        var found: Set<String> = []
        guard failed else {
            return chosen.filter { found.insert("\($0.job.snapshot.record.id) \($0.item ?? "")").inserted }
        }
        let known = try await journal.jobs(JobQuery(pipeline: pipeline, isBrief: true))
        return known.reversed().filter { $0.phase == .failed }.map { ($0, nil) }
    }

    /// Returns what to begin again of a job: what failed, or everything from a stage on.
    private static func decide(
        _ found: OwnedJob, _ plans: PlanCache, from: String?, item: String?, isChanged: Bool = false
    ) async throws -> JobContinuation {
        let record = found.snapshot.record
        let plan = try await plans.plan(of: record)
        if let from { try plan.checkStage(from, of: record.id.text) }
        var scope = from.map(RestartScope.from) ?? .failed
        if let item {
            scope = .failedItem(try number(of: item, in: found.snapshot))
            try check(scope, of: item, in: found.snapshot, plan)
        }
        let isUnknown = scope == .failed && found.snapshot.steps.values.contains { $0.state.name == .unknown }
        if isUnknown || found.owner == nil && found.snapshot.hasOpenSubmit(begunAnewBy: scope, in: plan) {
            return .unknown
        }
        if scope == .failed, found.snapshot.ended != nil, !found.snapshot.hasFailures {
            throw CommandError(
                .usage, "nothing of job \(record.id) has failed",
                hint:
                    "'pipeline retry \(record.id)\(isChanged ? " --changed" : "") --from STAGE' does it again from that stage "
                    + "on" + (isChanged ? ", as the document says now" : ""))
        }
        return .run(plan: plan, again: scope)
    }

    /// Throws where an item would not begin, since other stages have failed and stay so.
    private static func check(
        _ scope: RestartScope, of item: String, in job: JobSnapshot, _ plan: Plan
    ) throws(CommandError) {
        guard let first = job.obstacles(to: scope, in: plan, at: SystemClock().now).first else { return }
        let id = job.record.id
        throw CommandError(
            .usage, "item \(item) of job \(id) can't begin alone: \(first) has failed, or was cancelled, too",
            hint: "first begin that again: pipeline retry \(id)")
    }

    /// The number of an item that has failed.
    private static func number(of item: String, in job: JobSnapshot) throws -> Int {
        let id = job.record.id
        let items = job.steps.filter { $0.key.item != nil }
        guard !items.isEmpty else {
            throw CommandError(
                .usage, "job \(id) has no items", hint: "'pipeline retry \(id)' begins all again that failed")
        }
        guard let number = Int(item), items.contains(where: { $0.key.item == number }) else {
            let last = items.compactMap(\.key.item).max() ?? 0
            throw CommandError(
                .usage, "there is no item '\(item)' in job \(id)", hint: "its items are 0 to \(last)")
        }
        guard items.contains(where: { $0.key.item == number && $0.value.state.name.isRetried }) else {
            let failed = Set(items.filter(\.value.state.name.isRetried).compactMap(\.key.item)).sorted()
            throw CommandError(
                .usage, "item \(number) of job \(id) has not failed",
                hint: failed.isEmpty
                    ? "no item of it has" : "those that have: " + failed.map(String.init).joined(separator: ", "))
        }
        return number
    }
}

extension Plan {
    /// Throws what a person is told who names a stage that is not there.
    func checkStage(_ id: String, of job: String) throws(CommandError) {
        guard stage(id) == nil else { return }
        throw CommandError(
            .usage, "there is no stage '\(id)' in job \(job)",
            hint: "stages here: " + stages.map(\.id).joined(separator: ", "))
    }
}
