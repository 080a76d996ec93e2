import JSONPath
import PipelineCore

/// The items of a batch whose attempts fail, or whose service is closed or full, counted by the reason: what keeps a batch
/// from going on although none of its items has failed.
///
/// It has the words of each reason once, and an entry for each item that it holds up now: no more than are at work.
struct FailingItems: Sendable {
    /// What such items have in common: the stage, and the status of a refusal or else what can be done about it.
    typealias Reason = ItemFailure.Group

    private struct Words: Sendable {
        let title: String
        let hint: String?
        /// True if nothing was tried: the service takes no requests, or no further jobs.
        let isHeld: Bool
        /// True if a request was sent and no response came.
        let hasNoResponse: Bool
        var count = 0
    }

    private struct Entry: Sendable {
        let step: StepKey
        let reason: Reason
    }

    /// Waiting for a place is no reason as long as others of the batch are at work: theirs become free.
    private static let full = "full"
    /// That many reasons are told.
    private static let most = 3

    private var reasons: [Reason: Words] = [:]
    private var entries: [JobID: Entry] = [:]

    // MARK: What happens

    /// Takes in an event of an item's job. An attempt that begins changes nothing: it may fail as the last one did.
    mutating func apply(_ event: JobEvent) {
        guard let step = event.step else {
            switch event.kind {
            case .jobSuspended, .jobSucceeded, .jobFailed, .jobCancelled: remove(event.job)
            default: break
            }
            return
        }
        switch event.kind {
        case .attemptFailed: if let error = event.data["error"] { insert(event.job, step, StepFailure(json: error)) }
        case .stageWaiting: wait(event, step)
        case .stageSucceeded, .stageFailed, .stageCancelled, .stageSkipped, .stageUnknown: remove(event.job, at: step)
        case .transferProgress:
            // The first of an attempt tells what was there before, and has no rate.
            if let rate = event.data["rate"]?.number?.double, rate > 0 { remove(event.job, at: step) }
        default: break
        }
    }

    /// The item has ended, or can't go on now.
    mutating func remove(_ job: JobID) {
        guard let entry = entries.removeValue(forKey: job) else { return }
        reasons[entry.reason]?.count -= 1
        if reasons[entry.reason]?.count == 0 { reasons[entry.reason] = nil }
    }

    private mutating func remove(_ job: JobID, at step: StepKey) {
        if entries[job]?.step == step { remove(job) }
    }

    private mutating func wait(_ event: JobEvent, _ step: StepKey) {
        if let trouble = event.trouble {
            let words = Words(title: trouble, hint: nil, isHeld: false, hasNoResponse: false)
            return insert(event.job, step, Reason(stage: step.stage, code: trouble), words)
        }
        switch event.data["reason"]?.string.flatMap(WaitReason.Kind.init(rawValue:)) {
        case .closed: hold(event, step, "closed", "the service takes no requests now", hint: nil)
        case .full:
            hold(
                event, step, Self.full, "the service has as many jobs as it may have",
                hint: WaitReason.Kind.full.advice)
        case .poll, .time, .callback, .renewal: remove(event.job, at: step)
        case .retry, .refused, .settle, .interrupted, .noAnswer, .secret, nil: break
        }
    }

    private mutating func hold(
        _ event: JobEvent, _ step: StepKey, _ code: String, _ title: String, hint: String?
    ) {
        let words = Words(
            title: event.data["detail"]?.string ?? title, hint: hint, isHeld: true, hasNoResponse: false)
        insert(event.job, step, Reason(stage: step.stage, code: code), words)
    }

    private mutating func insert(_ job: JobID, _ step: StepKey, _ failure: StepFailure) {
        let failed = ItemFailure(stage: step.stage, failure: failure)
        // Titles name files, which are others for each item.
        let group = failed.group(of: "")
        let code = failed.refusal == nil ? failure.hint ?? group.code : group.code
        let words = Words(
            title: failure.title, hint: failure.hint, isHeld: false,
            hasNoResponse: failure.request != nil && failure.status == nil)
        insert(job, step, Reason(stage: step.stage, code: code), words)
    }

    private mutating func insert(_ job: JobID, _ step: StepKey, _ reason: Reason, _ words: Words) {
        if entries[job]?.reason != reason {
            remove(job)
            reasons[reason, default: words].count += 1
        }
        entries[job] = Entry(step: step, reason: reason)
    }

    // MARK: What is told

    /// The reasons that are told where so many items are at work, those of most items first.
    private func told(ofAtWork count: Int) -> [(reason: Reason, words: Words)] {
        let all = max(count, entries.count)
        let reasons = reasons.filter { $0.key.code != Self.full || $0.value.count == all }
        let sorted = reasons.sorted { left, right in
            if left.value.count != right.value.count { return left.value.count > right.value.count }
            return (left.key.stage ?? "", left.key.code) < (right.key.stage ?? "", right.key.code)
        }
        return sorted.prefix(Self.most).map { (reason: $0.key, words: $0.value) }
    }

    func toldReasons(ofAtWork count: Int) -> Set<Reason> { Set(told(ofAtWork: count).map(\.reason)) }

    /// The stage of a told reason that is a service's silence; nil without one.
    func stageWithoutResponse(ofAtWork count: Int) -> String? {
        told(ofAtWork: count).first { $0.words.hasNoResponse }?.reason.stage
    }

    /// A line for each reason, with what can be done about it below.
    ///
    /// - Parameters:
    ///   - count: how many items are at work, as far as is known.
    ///   - batch: the key of the batch, where the lines do not stand below it.
    func lines(ofAtWork count: Int, batch: String? = nil) -> [StyledText] {
        let name = batch.map { "\($0): " } ?? ""
        let told = told(ofAtWork: count)
        let all = max(count, entries.count)
        var lines: [StyledText] = []
        for (reason, words) in told {
            let isOne = words.count == 1
            let verb = words.isHeld ? (isOne ? "waits:" : "wait:") : (isOne ? "tries again:" : "try again:")
            let stage = reason.stage.map { "\($0): " } ?? ""
            lines.append("\(name)\("\(words.count) of \(all) at work \(verb)", .yellow) \(stage)\(words.title)")
            if let hint = words.hint { lines.append("  \("hint:", .cyan) \(hint)") }
        }
        let reasons = reasons.filter { $0.key.code != Self.full }
        let rest = reasons.values.reduce(0) { $0 + $1.count } - told.reduce(0) { $0 + $1.words.count }
        if rest > 0 { lines.append("\(name)\(rest) more for other reasons") }
        return lines
    }
}
