import PipelineCore
import PipelineHTTP

extension HTTPExchangeResponse {
    /// Returns how long the server asks to wait, see ``wait(now:)``.
    func retryAfter(now: Timestamp) -> Duration? { wait(now: now - .epoch) }
}
