import JSONPath
import PipelineCore

/// The warning of environment variables that are not set: what reads them is null, in what is sent and paid for as well.
struct UnsetVariableNote {
    private let text: String

    /// Nil where nothing is missing.
    ///
    /// - Parameter environment: the variables that the job has.
    init?(of plan: Plan, _ environment: JSONObject) {
        let names = plan.neededEnvironment.filter { environment[$0]?.string == nil }
        guard let first = names.first else { return nil }
        let (what, them) =
            names.count == 1
            ? ("variable \(first) is", "it") : ("variables \(names.joined(separator: ", ")) are", "them")
        text =
            "warning: the environment \(what) not set, and null for all of the job: "
            + "set \(them) before it starts, or say what holds then, as in env.\(first) ?? 'value'"
    }

    func show(on console: Console) { console.note(text) }
}
