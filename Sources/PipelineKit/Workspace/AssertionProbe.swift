import PipelineCore

/// Breaks the law of a job on purpose: the N-th end of a stage that `PIPELINE_ASSERT_AT=STAGE[:N]` names.
///
/// For tests of what happens when something does that never should; in release builds too, since those are what is
/// tested. Without `:N` each end of the stage breaks.
final class AssertionProbe: Sendable {
    private let stage: String
    private let number: Int?
    private let count = AtomicCount()

    /// The probe that the variable asks for; nil when it asks for none.
    init?(_ text: String?) {
        guard let parts = text?.split(separator: ":", maxSplits: 1), let name = parts.first else { return nil }
        stage = String(name)
        number = parts.count > 1 ? Int(parts[1]) : nil
    }

    /// Returns whether the end of this step's call is to break.
    func breaks(_ step: StepKey) -> Bool {
        guard step.stage == stage else { return false }
        let number = count.next()
        return self.number == nil || self.number == number
    }
}
