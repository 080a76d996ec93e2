import JSONPath

/// Files that one stage has written and another one is still to read. The next owner may be another machine, where they are
/// not.
extension JobSnapshot {
    /// The files that are still read, of steps that can make them again: what was submitted to a service is not. With
    /// `retried` also those that failed steps read. The local copies of inputs that are URLs are among them, without a step.
    package func filesToRead(in plan: Plan, retried: Bool) -> [WrittenFile] {
        FileReaders(job: self, plan: plan).files(retried: retried)
    }
}
