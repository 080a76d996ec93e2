import ArgumentParser
import JSONPath
import PipelineCore
import PipelineEngine
import PipelineKit
import PipelineStages

/// `pipeline resolve`: settles a submit of which it is not known whether the service took it.
struct ResolveCommand: WorkspaceCommand {
    static let configuration = CommandConfiguration(
        commandName: "resolve", abstract: "Say what became of a submit whose answer was lost.",
        discussion: """
            Of a batch all submits that are unknown are sent again or given up.

            Example: pipeline resolve last --stage model --id batch_123
            Example: pipeline resolve june --resubmit
            """)

    @OptionGroup var common: CommonOptions

    @Argument(help: "Jobs: an id, the start of one, a key, a batch, or 'last'.", completion: .jobs)
    var jobs: [String]

    @Option(help: "The stage; may be left out when only one is unknown.", completion: .stages)
    var stage: String?

    @Option(
        parsing: .unconditional, help: ArgumentHelp("The item of a forEach, from 0.", valueName: "n"),
        transform: WholeNumber.from(0))
    var item: Int?

    @Option(help: ArgumentHelp("It is there, under this id.", valueName: "id"))
    var id: String?

    @Option(help: ArgumentHelp("It is there, with this capture of the submit; JSON or text.", valueName: "name=value"))
    var set: [String] = []

    @Flag(help: "It is not there: send it again.")
    var resubmit = false

    @Flag(help: "Give the stage up.")
    var abandon = false

    func validate() throws {
        let ways = [id != nil || !set.isEmpty, resubmit, abandon].filter { $0 }.count
        guard ways == 1 else {
            throw ValidationError("Give --id, --set or both, or else one of --resubmit and --abandon.")
        }
        // A variable of a shell that is not set: no service calls a job so, and what was resolved stays so.
        if let empty = ([id].compactMap { $0 } + set.map { String($0.drop { $0 != "=" }.dropFirst()) }).first(where: {
            $0.allSatisfy(\.isWhitespace)
        }) {
            throw ValidationError("'\(empty)' is no id: give the one that the service knows the job by.")
        }
    }

    func run(in workspace: Workspace, console: Console) async throws -> ExitStatus {
        let journal = try workspace.journalWithJobs()
        var found: [OwnedJob] = []
        for job in jobs { found.append(try await JobName(job).find(in: journal)) }
        if !resubmit, !abandon, found.count > 1 || found.contains(where: { $0.snapshot.batch != nil }) {
            throw CommandError(
                .usage, "an id is that of one job", hint: "name one job or item: pipeline resolve BATCH/ITEM --id ID")
        }
        for job in found {
            if job.snapshot.batch == nil {
                try await resolve(job.snapshot, [try unknownStep(of: job.snapshot)], journal, workspace, console)
            } else {
                try await resolve(batch: job.snapshot, journal, workspace, console)
            }
        }
        return .succeeded
    }

    /// Reconciles all submits of a batch's items that are unknown.
    private func resolve(
        batch: JobSnapshot, _ journal: Workspace.Journal, _ workspace: Workspace, _ console: Console
    ) async throws {
        var (last, count) = (0, 0)
        while true {
            let page = try await journal.items(of: batch.record.id, in: [.unknown], after: last, limit: 100)
            guard let end = page.last else { break }
            last = end.number
            for id in page.compactMap(\.job) {
                guard let job = try await journal.snapshot(of: id) else { continue }
                let steps = unknownSteps(of: job)
                try await resolve(job, steps, journal, workspace, nil)
                count += steps.count
            }
        }
        if count == 0 { throw nothingUnknown(of: batch) }
        console.note("settled: \(count); go on with: pipeline resume \(ShellWord.quoted(batch.record.key))")
    }

    /// - Parameter console: nil where something else tells of it.
    private func resolve(
        _ job: JobSnapshot, _ steps: [StepKey], _ journal: Workspace.Journal, _ workspace: Workspace,
        _ console: Console?
    ) async throws {
        let engine = try workspace.engine(journal: journal, secrets: try workspace.secrets()) { _ in }
        for key in steps {
            let resolution = try await resolution(job, key, workspace)
            try await engine.resolve(
                job.record.id, key, plan: try await workspace.plan(of: job.record), as: resolution)
            if case .found(let captures) = resolution, captures.isEmpty {
                console?.note("the submit has no capture: the id is kept nowhere")
            }
        }
        if abandon, try await endsNow(job.record, journal, workspace, console) { return }
        guard let console else { return }
        let found = try await journal.jobs(JobQuery(prefix: job.record.id.text, isBrief: true)).first
        let isTaken = journal.shared != nil && (found?.owner != nil || found?.isToBeTaken == true)
        let next = isTaken ? "a worker goes on with it" : "go on with: pipeline resume \(job.record.id)"
        console.note("settled; \(next)")
    }

    /// Ends a job of which nothing is left to do without the stage that was given up; false when something is, or when
    /// the background owner does it.
    private func endsNow(
        _ record: JobRecord, _ journal: Workspace.Journal, _ workspace: Workspace, _ console: Console?
    ) async throws -> Bool {
        guard let job = try await journal.snapshot(of: record.id), job.mode == .attached else { return false }
        let plan = try await workspace.plan(of: record)
        guard job.isOver(in: plan, at: journal.clock.now) else { return false }
        let engine = try workspace.engine(journal: journal, secrets: try workspace.secrets()) { event in
            if event.kind == .jobFailed, let line = EventLine(event).text {
                console?.note("settled; \(line)" as StyledText)
            }
        }
        _ = try await engine.resume(record.id, plan: plan, mode: .attached).run()
        return true
    }

    private func unknownSteps(of job: JobSnapshot) -> [StepKey] {
        job.steps.filter { $0.value.state.name == .unknown }.keys.sorted().filter { key in
            (stage.map { $0 == key.stage } ?? true) && (item.map { $0 == key.item } ?? true)
        }
    }

    private func nothingUnknown(of job: JobSnapshot) -> CommandError {
        CommandError(
            .usage, "no submit of job \(job.record.id) is unknown",
            hint: "there is nothing to settle; 'pipeline show \(job.record.id)' tells where it stands")
    }

    private func unknownStep(of job: JobSnapshot) throws -> StepKey {
        let named = unknownSteps(of: job)
        if named.count == 1 { return named[0] }
        let unknown = job.steps.filter { $0.value.state.name == .unknown }.keys.sorted()
        if unknown.isEmpty { throw nothingUnknown(of: job) }
        let list = unknown.map(\.description).joined(separator: ", ")
        throw CommandError(
            .usage, "say which submit is meant", hint: "unknown are: \(list); name one with --stage and --item")
    }

    private func resolution(_ job: JobSnapshot, _ key: StepKey, _ workspace: Workspace) async throws -> Resolution {
        if resubmit { return .resubmit }
        if abandon { return .abandon }
        let plan = try await workspace.plan(of: job.record)
        guard let stage = plan.stage(key.stage) else { return .resubmit }
        let captures = SubmittedCaptures(stage)
        guard let flags = captures.flags else {
            throw CommandError(
                .usage, "the response to the submit of '\(key)' was its result, which can't be had again",
                hint: "--resubmit asks for it once more, --abandon gives the stage up")
        }
        var values = try values(captures)
        if let id {
            guard let found = captures.values(id: id) else {
                throw CommandError(
                    .usage, "the submit of '\(key)' has no single capture that --id could be",
                    hint: "give each: " + flags)
            }
            values = values.merging(found)
        }
        let missing = captures.missing(in: values, hasPlace: job.steps[key]?.hasMonitor == true)
        guard missing.isEmpty else {
            throw CommandError(
                .usage, "the document also needs of the submit of '\(key)': \(missing.joined(separator: ", "))",
                hint: "give each: " + flags)
        }
        return .found(values)
    }

    private func values(_ captures: SubmittedCaptures) throws -> JSONObject {
        var values = JSONObject()
        let names = captures.names
        for text in set {
            let equals = text.unicodeScalars.firstIndex(of: "=")
            guard let equals, case let name = String(text[..<equals]), names.contains(name) else {
                throw CommandError(
                    .usage, "'--set \(text)' names no capture of the submit",
                    hint: names.isEmpty
                        ? "it has none: write --id ID"
                        : "write --set NAME=VALUE with one of: " + names.joined(separator: ", "))
            }
            let value = String(text[text.unicodeScalars.index(after: equals)...])
            values[name] = captures.value(of: name, value)
        }
        return values
    }
}
