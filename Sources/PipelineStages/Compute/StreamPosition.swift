import PipelineCore

/// The place where a stream of events is to go on after it broke.
struct StreamPosition: Codable, Sendable, Equatable {
    /// The value of `Last-Event-ID`; empty for none.
    var lastID = ""
    /// The events that were looked for up to there, as ``PollEvents/names``; nil in checkpoints of before.
    var names: String?
    /// Milliseconds to wait before it is opened again, if the stream has said so.
    var retry: Int?

    /// The wait before the stream is opened again: what it asks for, at most an hour, else a second.
    var reconnection: Duration { .milliseconds(min(retry ?? 1000, 3_600_000)) }
}
