import JSONPath
import PipelineCore

/// Turns a stage's progress into the data of `transfer.progress` events: at most ten a second, with a rate.
struct ProgressMeter: Sendable {
    private var last: (time: Timestamp, bytes: Int64)?
    /// Bytes per second, smoothed.
    private var rate: Double?

    /// The event's data; nil when it is too early for another.
    mutating func data(for progress: StageProgress, at now: Timestamp) -> JSONObject? {
        guard case .transfer(let sent, let received, let total) = progress else { return nil }
        let isWhole = total.map { sent + received >= $0 } ?? false
        if let last, !isWhole, now - last.time < .milliseconds(100) { return nil }
        measure(sent + received, at: now)
        return [
            "sent": .number(JSONNumber(Int(sent))), "received": .number(JSONNumber(Int(received))),
            "total": total.map { .number(JSONNumber(Int($0))) } ?? .null,
            "rate": rate.map { .number(JSONNumber($0.rounded())) } ?? .null,
        ]
    }

    private mutating func measure(_ bytes: Int64, at now: Timestamp) {
        defer { last = (now, bytes) }
        guard let last, now > last.time else { return }
        let current = Double(bytes - last.bytes) / (now - last.time).seconds
        rate = rate.map { $0 * 0.7 + current * 0.3 } ?? current
    }
}
