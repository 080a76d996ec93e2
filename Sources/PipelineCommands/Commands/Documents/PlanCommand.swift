import ArgumentParser
import JSONPath
import PipelineCore
import PipelineKit

/// `pipeline plan`: shows what a run would do, and sends nothing.
struct PlanCommand: WorkspaceCommand {
    static let configuration = CommandConfiguration(
        commandName: "plan", abstract: "Show what a run would do, without sending anything.",
        discussion: """
            Each request is shown as it would be sent, with secrets as ‹secret:NAME› and values that come later as \
            ‹stages.upload.id›. Inputs that are not given are shown by their names.

            Example: pipeline plan selfie.json -i video=me.y4m
            """)

    @OptionGroup var common: CommonOptions

    @Argument(help: "The pipeline file.", completion: .pipelines)
    var file: String

    @OptionGroup var given: InputOptions

    @OptionGroup var ahead: BackgroundOptions

    @Flag(help: "Write the plan as JSON.")
    var json = false

    func run(in workspace: Workspace, console: Console) async throws -> ExitStatus {
        let draft = try JobDraft(
            path: file, catalogue: await workspace.catalogue(for: try JobDraft.source(at: file)),
            given: try given.values(), environment: workspace.settings.environment,
            standardInput: StandardInput.text, allowsMissingInputs: true)
        if let mistake = draft.mistake { throw CommandError(.invalid, mistake) }
        let preview = await PlanPreview(draft)
        let forecast = try await ahead.forecast(of: draft, in: workspace)
        if json {
            console.data((forecast?.adding(to: preview.json) ?? preview.json).prettyText())
        } else {
            console.data(PlanText(preview).text)
            forecast?.lines.forEach { console.data(SafeText.line($0)) }
        }
        if !draft.plan.warnings.diagnostics.isEmpty { console.note(draft.plan.warnings.text) }
        let secrets = try workspace.secrets()
        for name in draft.plan.secrets where !draft.plan.optionalSecrets.contains(name) {
            if await secrets.secret(name) == nil {
                console.note("warning: the secret \(name) is not set: a run would not start")
            }
        }
        UnsetVariableNote(of: draft.plan, draft.environment)?.show(on: console)
        PublicAddressNote(of: draft.plan, workspace.settings, .preview)?.show(on: console)
        return .succeeded
    }
}
