/// The advice on what would save a resume, as sentences.
struct ForecastAdvice {
    let stages: [BackgroundForecast.Stage]
    let plan: Plan
    let authentications: AuthenticationForecast
    let budget: ResumeBudget

    var sentences: [String] {
        let byStage = stages.flatMap { stage in stage.resumes.compactMap { advice(on: $0, of: stage) } }
        return byStage + [fewerStages, discretionary].compactMap { $0 }
    }

    private func advice(on resume: BackgroundForecast.Resume, of stage: BackgroundForecast.Stage) -> String? {
        switch resume.reason {
        case .authentication:
            "stage '\(stage.id)': fetch the token beforehand and send it with \"bearer\": a transfer token instead of "
                + "a challenge saves \(count(resume.count))"
        case .poll where resume.count > 1:
            "stage '\(stage.id)': \(push(to: stage)) instead of \(resume.count) polls saves "
                + "\(count(resume.count - 1))"
        default: nil
        }
    }

    private func push(to stage: BackgroundForecast.Stage) -> String {
        plan.stage(stage.id)?.stage.callback == nil ? "a push (\"callback\")" : "a public address for its pushes"
    }

    private func count(_ number: Int) -> String { number == 1 ? "1 resume" : "\(number) resumes" }

    /// Transfers in a row that could be one stage with `forEach` and end together.
    private var fewerStages: String? {
        let transfers = plan.stages.filter { $0.stage.work == .transfer }
        let kinds = Dictionary(grouping: transfers, by: \.kind).filter { $0.value.count > 1 }
        guard let (kind, same) = kinds.min(by: { $0.key < $1.key }) else { return nil }
        let names = same.map { "'\($0.id)'" }.joined(separator: ", ")
        return "stages \(names): one '\(kind)' with \"forEach\" lets transfers that end together be one resume"
    }

    private var discretionary: String? {
        guard budget.makesTransfersDiscretionary else { return nil }
        let names = stages.filter(\.isDiscretionary).map { "'\($0.id)'" }
        return names.isEmpty
            ? nil
            : "under this budget a transfer first started in the background waits for a good moment too: "
                + names.joined(separator: ", ")
    }
}
