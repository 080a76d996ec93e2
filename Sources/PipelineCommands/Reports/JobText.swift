import JSONPath
import PipelineCore
import PipelineKit

/// A job in plain words, for `show`.
struct JobText {
    /// The amount of the items of a repeated stage is shown.
    enum Detail { case summary, failed, all }

    let job: OwnedJob
    let report: JobReport
    let order: [String]
    let standing: JobStanding
    var detail = Detail.summary
    /// The last exchanges of the job, in their order.
    var exchanges: [ExchangeRecord] = []
    /// Of the terminal; nil for a pipe.
    var width: Int?

    /// That many failed items are shown in a summary.
    private static let failures = 3

    private var now: Timestamp { standing.now }
    private var clock: TimeText { TimeText(now: now) }

    var lines: [StyledText] {
        let snapshot = job.snapshot
        let record = snapshot.record
        var lines: [StyledText] = [
            "job       \(record.id)" + (record.key == record.id.text ? "" : "  key \(record.key)"),
            "pipeline  \(record.pipeline)  (\(record.sourceName))",
            "state     \(standing.text)",
            "started   \(clock.dated(record.started))",
        ]
        if let ended = snapshot.ended {
            let length = DurationText.rounded(ended.seconds(since: record.started))
            lines.append("ended     \(clock.dated(ended)), after \(length)")
        }
        // What waits for a person takes as long as that one does.
        if let estimate = report.estimate, job.phase != .unknown {
            let half = DurationText.rounded(estimate.quantile(0.5))
            let most = DurationText.rounded(estimate.quantile(0.9))
            lines.append("estimate  about \(half) left, 90 % within \(most)")
        }
        if let cost = snapshot.cost { lines.append("cost      \(AmountText.describe(cost))") }
        lines.append("")
        let steps = job.snapshot.steps(inOrder: order)
        let items = Dictionary(grouping: steps.filter { $0.0.item != nil }, by: \.0.stage)
        for (key, step) in steps where detail == .all || key.item == nil {
            guard detail != .all, let items = items[key.stage] else {
                if detail != .failed || step.state.name == .failed { lines += stageLines(key, step) }
                continue
            }
            lines += groupLines(key, step, items)
        }
        if detail == .failed { return lines }
        let charted = detail == .all ? steps : steps.filter { $0.0.item == nil }
        let chart = StageChart(steps: charted, end: snapshot.ended ?? now, width: width).lines.map { StyledText($0) }
        if !chart.isEmpty { lines += [""] + chart + (snapshot.files.isEmpty ? [] : [""]) }
        for file in snapshot.orderedFiles {
            let digest = file.sha256.map { "  sha256 \($0)" } ?? ""
            lines.append("file      \(file.path)  \(SizeText.describe(file.bytes))\(digest)")
        }
        return lines
    }

    /// A repeated stage: how many items are in each state, then those that failed.
    private func groupLines(
        _ key: StepKey, _ step: StepRecord, _ items: [(StepKey, StepRecord)]
    ) -> [StyledText] {
        var line: StyledText = "\(key)  \(step.state.name.rawValue, step.state.name.style), \(items.count) items:"
        var separator = " "
        for name in StepState.Name.allCases {
            let count = items.count { $0.1.state.name == name }
            if count == 0 { continue }
            line += "\(separator)\("\(count) \(name.rawValue)", name.style)"
            separator = ", "
        }
        let (sent, received) = items.reduce((Int64(0), Int64(0))) { ($0.0 + $1.1.bytesSent, $0.1 + $1.1.bytesReceived) }
        if sent > 0 { line += ", sent \(SizeText.describe(sent))" }
        if received > 0 { line += ", received \(SizeText.describe(received))" }
        var lines = [line]
        if case .failed(let failure) = step.state { lines += Self.lines(of: failure) }
        let failed = items.filter { $0.1.state.name == .failed || $0.1.state.name == .unknown }
        let shown = detail == .failed ? failed[...] : failed.prefix(Self.failures)
        for (key, step) in shown { lines += stageLines(key, step).map { "  \($0)" } }
        if failed.count > shown.count {
            lines.append(
                "  … and \(failed.count - shown.count) more: pipeline show \(job.snapshot.record.id) --failed")
        }
        return lines
    }

    private func stageLines(_ key: StepKey, _ step: StepRecord) -> [StyledText] {
        var facts: [String] = []
        if step.attempts > 1 { facts.append("try \(step.attempts)") }
        if step.bytesSent > 0 { facts.append("sent \(SizeText.describe(step.bytesSent))") }
        if step.bytesReceived > 0 { facts.append("received \(SizeText.describe(step.bytesReceived))") }
        if let cost = step.cost { facts.append("cost \(AmountText.describe(cost))") }
        var lines: [StyledText] = [
            "\(key)  \(step.state.name.rawValue, step.state.name.style)\(facts.map { ", \($0)" }.joined())"
        ]
        if case .waiting(_, let wake, let reason) = step.state {
            // Of a job that nobody has nobody keeps the time.
            let time = job.owner == nil ? nil : wake.time
            let words = reason.detail ?? reason.kind.sentence
            let rest = job.snapshot.isQueued ? OwnedJob.queued : job.owner == nil ? "waits for a resume" : nil
            let until = time.map { "\(reason.kind.verb) \(clock.until($0))" } ?? rest
            lines.append("    \(until.map { "\($0): " } ?? "")\(words)")
        }
        for member in report.captures(of: key, step) {
            let value = member.value.string ?? member.value.text
            lines.append("    \(member.name) = \(value.count > 200 ? String(value.prefix(200)) + "…" : value)")
        }
        if let expires = step.expires {
            lines.append("    \(Self.words(for: step.state)) until \(clock.clock(expires)), \(clock.until(expires))")
        }
        if !step.state.isEnded, let response = LastResponse(of: key, in: exchanges) {
            lines.append("    \(response.line(clock))")
        }
        if case .failed(let failure) = step.state { lines += Self.lines(of: failure) }
        return lines
    }

    private static func lines(of failure: StepFailure) -> [StyledText] {
        ErrorReport.lines(of: failure).map { "    \(StyledText(message: $0))" }
    }

    /// Returns what is good until a step's ``StepRecord/expires``.
    private static func words(for state: StepState) -> String {
        switch state.name {
        case .succeeded: "its captures are good"
        case .pending: "the link that it was given is good"
        default: "the service keeps what it has"
        }
    }
}
