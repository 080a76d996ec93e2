import JSONPath
import PipelineCore

/// The way from a call of a stage back to its job: what it may ask, and nothing else of the executor.
struct StepChannel: Sendable {
    /// All values that an expression of the step may read at this moment.
    let scope: @Sendable () async -> Scope
    /// What seals the texts of a checkpoint that may not be kept as they are; nil for nothing.
    let sealing: @Sendable () async -> CaptureSealing?
    /// Its entry in the submit ledger.
    let submit: @Sendable () async -> SubmitRecord?
    /// The callbacks that came for it since it was begun.
    let callbacks: @Sendable () async -> CallbackCount
    /// The state in which the job has read a file.
    let fingerprint: @Sendable (String) async -> String?
    /// What the job has said of a file when it was in another state than the one given.
    let told: @Sendable (String, String) async -> [Fact: JSON]
    /// What told a file that the job has written from others; nil for one that no stage reads.
    let trace: @Sendable (String) async -> String?
    /// The file that any step of the job has written last at a path.
    let result: @Sendable (String) async -> WrittenFile?
    /// Keeps what it says; durable when this returns, unless it may wait.
    let save: @Sendable (StepReport) async throws(StageFailure) -> Void
    /// Looks the secrets up again.
    let renewSecrets: @Sendable ([String: String]) async -> Bool
    /// Something that its executor is to hear. From any thread.
    let post: @Sendable (ExecutorMessage) -> Void
}
