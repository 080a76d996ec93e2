import JSONPath
import PipelineCore

/// Turns a stage's progress into `transfer.progress` events, at most ten a second, with a rate, and what a service
/// says is left into `estimate.changed` events.
struct ProgressMeter: Sendable {
    private var last: (time: Timestamp, bytes: Int64)?
    /// The time and the number of bytes at which this call of the stage began.
    private var start: (time: Timestamp, bytes: Int64)?
    /// Bytes per second, smoothed.
    private var rate: Double?
    /// The outlook that the duration had when the service first said something of it.
    private var outlook: StageOutlook?
    /// The progress that came too early after the last event, to be told when its time has come.
    private(set) var held: StageProgress?
    /// The least time between two events.
    static let interval = Duration.milliseconds(100)

    /// Returns what the progress says of the end: a service's own words, or the bytes that are left at the rate so far;
    /// nil while there is no rate.
    mutating func words(for progress: StageProgress, at now: Timestamp) -> Estimate.Words? {
        switch progress {
        case .remote(let share, let secondsLeft, let start):
            return Self.words(share, secondsLeft, since: start, at: now)
        case .transfer(let sent, let received, let total):
            let bytes = sent + received
            guard let start, now > start.time, bytes >= start.bytes else {
                start = (now, bytes)
                return nil
            }
            let seconds = (now - start.time).seconds
            let mean = Double(bytes - start.bytes) / seconds
            // The mean of the whole says more of what is left than the last moment does, once there is one.
            guard let total, seconds >= 0.5, mean > 0 else { return nil }
            return Estimate.Words(bytesLeft: Double(max(0, total - bytes)) / mean)
        }
    }

    /// The event's kind and data; nil when it is too early for another, which is held then, or nothing is known.
    mutating func event(
        for progress: StageProgress, of facts: StageFacts, at now: Timestamp
    ) -> (JobEvent.Kind, JSONObject)? {
        switch progress {
        case .transfer(let sent, let received, let total):
            transfer(sent, received, total, at: now).map { (.transferProgress, $0) }
        case .remote(let share, let secondsLeft, let start):
            remote(Self.words(share, secondsLeft, since: start, at: now), facts, at: now).map { (.estimateChanged, $0) }
        }
    }

    private static func words(
        _ share: Double?, _ secondsLeft: Double?, since start: Timestamp?, at now: Timestamp
    ) -> Estimate.Words {
        Estimate.Words(secondsLeft: secondsLeft, share: share, shareSeconds: start.map { (now - $0).seconds })
    }

    private mutating func remote(_ words: Estimate.Words, _ facts: StageFacts, at now: Timestamp) -> JSONObject? {
        guard words.share != nil || words.secondsLeft != nil else { return nil }
        let elapsed = (now - facts.started).seconds
        let outlook = outlook ?? facts.outlook()
        self.outlook = outlook
        var data = Estimate(outlook, elapsed: elapsed, words: words)?.data ?? [:]
        if let share = words.share { data["share"] = .number(JSONNumber(share)) }
        return data
    }

    private mutating func transfer(
        _ sent: Int64, _ received: Int64, _ total: Int64?, at now: Timestamp
    ) -> JSONObject? {
        let isWhole = total.map { sent + received >= $0 } ?? false
        if let last, !isWhole, now - last.time < Self.interval {
            held = .transfer(sent: sent, received: received, total: total)
            return nil
        }
        held = nil
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
