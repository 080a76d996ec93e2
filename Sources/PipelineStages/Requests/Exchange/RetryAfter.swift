import PipelineCore
import PipelineHTTP

extension HTTPExchangeResponse {
    /// Returns how long the server asks to wait: seconds, or an HTTP date counted from the answer's own `Date`, not
    /// from the local clock (RFC 9110, sections 10.2.3 and 6.6.1). Nil when it does not ask, or asks in another way.
    func retryAfter(now: Timestamp) -> Duration? {
        guard let text = header("Retry-After") else { return nil }
        if !text.isEmpty, text.utf8.allSatisfy({ (48...57).contains($0) }) {
            // What no one could mean stops at a hundred years, so that it adds up.
            return .seconds(min(Int64(text) ?? .max, 36_525 * 86_400))
        }
        guard let time = Timestamp.httpDate(text, now: now) else { return nil }
        let reference = header("Date").flatMap { Timestamp.httpDate($0, now: now) } ?? now
        return max(.zero, time - reference)
    }
}
