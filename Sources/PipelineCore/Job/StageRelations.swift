/// Which stages look at which, and which of their items may begin.
struct StageRelations: Sendable {
    /// Those that need a stage.
    var dependents: [String: [String]] = [:]
    /// Those whose items follow a stage's.
    var followers: [String: [String]] = [:]
    /// The only items of stages that may begin.
    var only: [String: Int] = [:]

    init(_ plan: Plan) {
        for stage in plan.stages {
            for need in stage.needs { dependents[need, default: []].append(stage.id) }
            if let followed = stage.forEach?.followed { followers[followed, default: []].append(stage.id) }
        }
    }
}
