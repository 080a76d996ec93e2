package import PipelineCore

/// The address at which a push for a step is taken: `BASE/callbacks/JOB/STAGE/TOKEN`, with `/ITEM` before the token for
/// an item of a `forEach`.
///
/// The token is a keyed hash of the step and its key, so that it need not be kept, holds over restarts, and is another
/// one when the submit is.
package struct CallbackAddresses: Sendable {
    private let base: String
    private let makeToken: @Sendable (JobID, StepKey, String) -> String

    init(base: String, makeToken: @escaping @Sendable (JobID, StepKey, String) -> String) {
        self.base = base
        self.makeToken = makeToken
    }

    /// The public address for a step with its own key.
    package var url: @Sendable (JobID, StepKey, String) -> String? {
        { [base, makeToken] job, step, own in
            let item = step.item.map { "/\($0)" } ?? ""
            return "\(base)/callbacks/\(job)/\(step.stage)\(item)/\(makeToken(job, step, own))"
        }
    }

    /// The step that a path of the receiver names, and the token that came with it; nil for any other path.
    ///
    /// What stands before `callbacks` is a reverse proxy's affair.
    package static func parse(path: String) -> (job: JobID, step: StepKey, token: String)? {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        // Counted from the end: a stage, and a folder of the public address, may have the same name.
        guard let start = [4, 5].map({ parts.count - $0 }).first(where: { $0 >= 0 && parts[$0] == "callbacks" }) else {
            return nil
        }
        let rest = Array(parts[(start + 1)...])
        switch rest.count {
        case 3: return (JobID(rest[0]), StepKey(stage: rest[1]), rest[2])
        case 4: return Int(rest[2]).map { (JobID(rest[0]), StepKey(stage: rest[1], item: $0), rest[3]) }
        default: return nil
        }
    }

    /// Returns whether the token is the step's, compared in constant time.
    package func isGenuine(_ token: String, job: JobID, step: StepKey, own: String) -> Bool {
        SecretText.isSame(token, as: makeToken(job, step, own))
    }
}
