package import PipelineCore

/// An action on jobs that a page offers.
package enum JobAction: String, Sendable, CaseIterable {
    case retry, resume, pause, cancel
}

/// The reason why an action was not done, or not all of it.
package struct ActionFailure: Error, Sendable {
    package let failure: StepFailure
    /// True if it is how the jobs stand, or what a person has to do first; false if something is broken.
    package let isRefusal: Bool

    package init(_ failure: StepFailure, isRefusal: Bool) {
        self.failure = failure
        self.isRefusal = isRefusal
    }
}

/// Whoever does what a page asks for.
package protocol JobActions: Sendable {
    func perform(_ action: JobAction, on targets: JobActionTargets) async throws(ActionFailure)
}
