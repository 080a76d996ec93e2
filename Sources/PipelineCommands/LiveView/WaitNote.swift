import PipelineCore
import PipelineKit

/// The line that says for how long a stage is tried to which no response comes.
struct WaitNote {
    let line: String

    /// Nil where the time is computed, or is not worth a word.
    init?(of stage: String, in plan: Plan) {
        guard let policy = try? plan.stage(stage)?.retries.policy(in: Scope()), policy.duration >= .seconds(60) else {
            return nil
        }
        let time = DurationText.rounded(policy.duration.seconds).filter { $0 != " " }
        line = "note: waits for up to \(time); Ctrl-C suspends"
    }
}
