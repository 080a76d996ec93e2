import JSONPath

/// Files that one stage has written and another one is still to read. The next owner may be another machine, where they are
/// not.
extension JobSnapshot {
    /// The file that a step has written at a path; nil where it has written none.
    package func file(at path: String, of step: StepKey) -> WrittenFile? {
        writtenFile(at: path).flatMap { $0.step == step ? $0 : nil }
    }

    /// The files that are still read, of steps that can make them again: what was submitted to a service is not. With
    /// `retried` also those that failed steps read. The local copies of inputs that are URLs are among them, without a step.
    package func filesToRead(in plan: Plan, retried: Bool) -> [WrittenFile] {
        FileReaders(job: self, plan: plan).files(retried: retried)
    }
}

/// Files of a person that stages have sent, and that may have been mended since.
extension JobSnapshot {
    /// A file that a stage has sent.
    package struct SentFile: Sendable, Hashable {
        /// Absolute.
        package let path: String
        package let stage: String
        /// Tells the state in which it was sent from others.
        package let fingerprint: String
    }

    /// Those that no step sends again by itself, for it has succeeded, in the order of the steps. What the job made itself is
    /// not among them.
    package var sentFiles: [SentFile] {
        let made = Set(files.map(\.path) + facts.compactMap { if case .copy = $0.key { $0.value.string } else { nil } })
        return steps.filter { $0.value.state.name == .succeeded }.keys.sorted().flatMap { key in
            (facts[.sent(by: key)]?.object ?? [:]).compactMap { path, state -> SentFile? in
                guard !made.contains(path), let state = state.string else { return nil }
                return SentFile(path: path, stage: key.stage, fingerprint: state)
            }
        }
    }
}
