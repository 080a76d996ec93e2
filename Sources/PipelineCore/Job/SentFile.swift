import JSONPath

/// A file of a person that a stage has sent, and that may have been mended since.
package struct SentFile: Sendable, Hashable {
    /// Absolute.
    package let path: String
    package let stage: String
    /// Tells the state in which it was sent from others.
    package let fingerprint: String

    /// Those that no step of a job sends again by itself, for it has succeeded, in the order of the steps. What the job made
    /// itself is not among them.
    package static func all(of job: JobSnapshot) -> [SentFile] {
        let made = Set(job.files.map(\.path) + job.facts.copies)
        return job.steps.filter { $0.value.state.name == .succeeded }.keys.sorted().flatMap { key in
            (job.facts[.sent(by: key)]?.object ?? [:]).compactMap { path, state -> SentFile? in
                guard !made.contains(path), let state = state.string else { return nil }
                return SentFile(path: path, stage: key.stage, fingerprint: state)
            }
        }
    }
}
