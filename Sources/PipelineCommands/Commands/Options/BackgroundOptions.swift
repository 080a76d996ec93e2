import ArgumentParser
import PipelineCore
import PipelineKit

/// The flags of `plan` that ask what a run would cost in the background.
struct BackgroundOptions: ParsableArguments {
    @Flag(help: "Foretell the resumes of a run that nobody waits for, the delays they cost, and what would save one.")
    var background = false

    @Option(help: ArgumentHelp("Under this budget instead of the document's: ios or unlimited.", valueName: "budget"))
    var budget: BudgetName?

    /// Returns what the plan would cost in the background; nil when that is not asked for.
    func forecast(of draft: JobDraft, in workspace: Workspace) async throws -> ForecastText? {
        guard background || budget != nil else { return nil }
        return ForecastText(try await workspace.forecast(of: draft.plan, budget: definition, in: draft.known))
    }

    private var definition: ResumeBudgetDefinition? {
        switch budget {
        case .ios: .ios
        case .unlimited: .unlimited
        case nil: nil
        }
    }
}

/// Budgets that have a name.
enum BudgetName: String, ExpressibleByArgument, CaseIterable { case ios, unlimited }
