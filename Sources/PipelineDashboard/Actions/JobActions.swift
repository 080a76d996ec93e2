package import PipelineCore

/// An action on jobs that a page offers.
package enum JobAction: String, Sendable, CaseIterable {
    case retry, resume, pause, cancel
}

/// Whoever does what a page asks for.
package protocol JobActions: Sendable {
    func perform(_ action: JobAction, on targets: JobActionTargets) async throws(StepFailure)
}
