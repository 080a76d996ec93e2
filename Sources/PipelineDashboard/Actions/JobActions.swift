package import PipelineCore

/// What may be done to jobs from a page.
package enum JobAction: String, Sendable, CaseIterable {
    case retry, resume, pause, cancel
}

/// Whoever does what a page asks for.
package protocol JobActions: Sendable {
    func perform(_ action: JobAction, on targets: JobActionTargets) async throws(StepFailure)
}
