import ArgumentParser
import PipelineCore
import PipelineKit

/// `pipeline signal`: does by hand what a callback does.
struct SignalCommand: WorkspaceCommand {
    static let configuration = CommandConfiguration(
        commandName: "signal", abstract: "Wake a stage that waits for a push, as the push would.",
        discussion: """
            A stage that watches a remote job asks its service at once; a stage that waits for a push ends.

            Example: pipeline signal last model
            """)

    @OptionGroup var common: CommonOptions

    @Argument(help: "The job: an id, the start of one, a key, or 'last'.", completion: .jobs)
    var job: String

    @Argument(help: "The stage.", completion: .stages)
    var stage: String

    @Option(
        parsing: .unconditional, help: ArgumentHelp("The item of a stage that is repeated, from 0.", valueName: "n"),
        transform: WholeNumber.from(0))
    var item: Int?

    func run(in workspace: Workspace, console: Console) async throws -> ExitStatus {
        let journal = try workspace.journalWithJobs()
        let found = try await JobName(job).find(in: journal)
        let record = found.snapshot.record
        let plan = try await workspace.plan(of: record)
        let step = StepKey(stage: stage, item: item)
        guard let planned = plan.stage(stage) else {
            throw CommandError(
                .usage, "there is no stage '\(stage)' in job \(record.id)",
                hint: "stages here: " + plan.stages.map(\.id).joined(separator: ", "))
        }
        guard planned.stage.callback != nil else {
            let waiting = plan.stages.filter { $0.stage.callback != nil }.map(\.id)
            throw CommandError(
                .usage, "stage '\(stage)' has no 'callback': no push wakes it",
                hint: waiting.isEmpty
                    ? "no stage of this job waits for a push; 'pipeline why \(record.id)' tells what it waits for"
                    : "these have one: " + waiting.joined(separator: ", "))
        }
        let captured = planned.stage.callback?.capture.names ?? []
        if planned.stage.work == .wait || planned.stage.endsByCallback, !captured.isEmpty {
            throw CommandError(
                .usage,
                "stage '\(stage)' ends with what a push brings (\(captured.joined(separator: ", "))): a signal has none",
                hint: "'pipeline why \(record.id)' tells where its push is taken")
        }
        guard let state = found.snapshot.steps[step]?.state else {
            throw CommandError(
                .usage, planned.forEach == nil ? "stage '\(stage)' has no items" : "there is no '\(step)' yet",
                hint: planned.forEach == nil ? nil : "name an item that has begun with --item N")
        }
        if state.isEnded {
            console.note("stage '\(step)' has ended already")
            return .succeeded
        }
        let random = SystemRandomness()
        let push = Callback(
            id: "signal:" + String(random.bits(), radix: 36) + String(random.bits(), radix: 36), time: journal.clock.now
        )
        let receipt = try await journal.post(push, to: step, of: record.id)
        if receipt.isHeard, state == .pending {
            console.note("stage '\(step)' of job \(record.id) has not begun; it goes on at once when it gets there")
            return .succeeded
        }
        console.note(
            receipt.isHeard
                ? "stage '\(step)' of job \(record.id) was woken"
                : "stage '\(step)' is woken when the job goes on: pipeline resume \(record.id)")
        return .succeeded
    }
}
