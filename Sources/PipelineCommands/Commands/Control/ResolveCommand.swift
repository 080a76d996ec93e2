import ArgumentParser
import JSONPath
import PipelineCore
import PipelineEngine
import PipelineKit

/// `pipeline resolve`: settles a submit of which it is not known whether the service took it.
struct ResolveCommand: WorkspaceCommand {
    static let configuration = CommandConfiguration(
        commandName: "resolve", abstract: "Say what became of a submit whose answer was lost.",
        discussion: "Example: pipeline resolve last --stage model --id batch_123")

    @OptionGroup var common: CommonOptions

    @Argument(help: "The job: an id, the start of one, a key, or 'last'.", completion: .jobs)
    var job: String

    @Option(help: "The stage; may be left out when only one is unknown.", completion: .stages)
    var stage: String?

    @Option(
        parsing: .unconditional, help: ArgumentHelp("The item of a forEach, from 0.", valueName: "n"),
        transform: WholeNumber.from(0))
    var item: Int?

    @Option(help: ArgumentHelp("It is there, under this id.", valueName: "id"))
    var id: String?

    @Option(help: ArgumentHelp("It is there; a capture of the submit.", valueName: "name=value"))
    var set: [String] = []

    @Flag(help: "It is not there: send it again.")
    var resubmit = false

    @Flag(help: "Give the stage up.")
    var abandon = false

    func validate() throws {
        let ways = [id != nil, !set.isEmpty, resubmit, abandon].filter { $0 }.count
        guard ways == 1 else { throw ValidationError("Give exactly one of --id, --set, --resubmit and --abandon.") }
        // A variable of a shell that is not set: no service calls a job so, and what was resolved stays so.
        if let empty = ([id].compactMap { $0 } + set.map { String($0.drop { $0 != "=" }.dropFirst()) }).first(where: {
            $0.allSatisfy(\.isWhitespace)
        }) {
            throw ValidationError("'\(empty)' is no id: give the one that the service knows the job by.")
        }
    }

    func run(in workspace: Workspace, console: Console) async throws -> ExitStatus {
        let journal = try workspace.journalWithJobs()
        let found = try await JobName(job).find(in: journal)
        let key = try unknownStep(of: found.snapshot)
        let engine = try workspace.engine(journal: journal, secrets: try workspace.secrets()) { _ in }
        let resolution = try await resolution(found.snapshot, key, workspace)
        try await engine.resolve(
            found.snapshot.record.id, key, plan: try await workspace.plan(of: found.snapshot.record), as: resolution)
        if abandon, try await endsNow(found.snapshot.record, journal, workspace, console) { return .succeeded }
        if case .found(let captures) = resolution, captures.isEmpty {
            console.note("the submit has no capture: the id is kept nowhere")
        }
        console.note("settled; go on with: pipeline resume \(found.snapshot.record.id)")
        return .succeeded
    }

    /// Ends a job of which nothing is left to do without the stage that was given up; false when something is, or when
    /// the background owner does it.
    private func endsNow(
        _ record: JobRecord, _ journal: Workspace.Journal, _ workspace: Workspace, _ console: Console
    ) async throws -> Bool {
        guard let job = try await journal.snapshot(of: record.id), job.mode == .attached else { return false }
        let plan = try await workspace.plan(of: record)
        guard job.isOver(in: plan, at: journal.clock.now) else { return false }
        let engine = try workspace.engine(journal: journal, secrets: try workspace.secrets()) { event in
            if event.kind == .jobFailed, let line = EventLine(event).text {
                console.note("settled; \(line)" as StyledText)
            }
        }
        _ = try await engine.resume(record.id, plan: plan, mode: .attached).run()
        return true
    }

    private func unknownStep(of job: JobSnapshot) throws -> StepKey {
        let unknown = job.steps.filter { $0.value.state.name == .unknown }.keys.sorted()
        let named = unknown.filter { key in
            (stage.map { $0 == key.stage } ?? true) && (item.map { $0 == key.item } ?? true)
        }
        if named.count == 1 { return named[0] }
        if unknown.isEmpty {
            throw CommandError(
                .usage, "no submit of job \(job.record.id) is unknown",
                hint: "there is nothing to settle; 'pipeline show \(job.record.id)' tells where it stands")
        }
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
        guard let id else { return .found(try values(captures.names)) }
        guard let values = captures.values(id: id) else {
            throw CommandError(
                .usage, "the submit of '\(key)' has no single capture that --id could be",
                hint: "give each: " + captures.flags)
        }
        return .found(values)
    }

    private func values(_ names: [String]) throws -> JSONObject {
        var values = JSONObject()
        for text in set {
            guard let equals = text.unicodeScalars.firstIndex(of: "="), names.contains(String(text[..<equals])) else {
                throw CommandError(
                    .usage, "'--set \(text)' names no capture of the submit",
                    hint: names.isEmpty
                        ? "it has none: write --id ID"
                        : "write --set NAME=VALUE with one of: " + names.joined(separator: ", "))
            }
            values[String(text[..<equals])] = .string(String(text[text.unicodeScalars.index(after: equals)...]))
        }
        return values
    }
}
