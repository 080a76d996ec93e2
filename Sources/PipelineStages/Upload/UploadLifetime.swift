import HTTPTypes
import PipelineCore

/// Until when a service keeps an upload that is not complete, as an answer said it.
enum UploadLifetime: Sendable, Equatable {
    /// From the answer on.
    case lasting(Duration)
    /// Until a moment by the service's clock, whose time the answer did not tell.
    case until(Timestamp)

    /// By an HTTP date, counted from the answer's own `Date` and not from the local clock (RFC 9110, section 6.6.1).
    init?(date text: String?, in headers: HTTPFields) {
        guard let end = text.flatMap({ Timestamp.httpDate($0) }) else { return nil }
        self = headers[.date].flatMap { Timestamp.httpDate($0) }.map { .lasting(end - $0) } ?? .until(end)
    }

    /// The moment by the local clock, for an answer that came `now`.
    func end(at now: Timestamp) -> Timestamp {
        switch self {
        case .lasting(let duration): now + duration
        case .until(let time): time
        }
    }
}
