import PipelineCore

/// An answer that shows a submit to have been accepted.
struct SubmitReceipt: Sendable {
    let answer: ServiceResponse
    /// Whether it answers the submit itself; otherwise it came from looking for a lost one.
    let isDirect: Bool
    /// The wait that the service asks for.
    let retryAfter: Duration?
}
