import JSONPath
import PipelineCore

/// A job in plain words, for `show`.
struct JobText {
    let job: OwnedJob
    let report: JobReport
    let order: [String]
    let now: Timestamp

    var lines: [String] {
        let snapshot = job.snapshot
        let record = snapshot.record
        let isOwned = job.owner != nil
        let cause = snapshot.suspension(isOwned: isOwned).map { " (\($0.rawValue))" } ?? ""
        var lines = [
            "job       \(record.id)" + (record.key == record.id.text ? "" : "  key \(record.key)"),
            "pipeline  \(record.pipeline)  (\(record.sourceName))",
            "state     \(snapshot.phase(isOwned: isOwned).rawValue)\(cause)",
            "started   \(record.started)",
        ]
        if let ended = snapshot.ended { lines.append("ended     \(ended)") }
        if let estimate = report.estimate {
            let (half, most) = (LiveFrame.seconds(estimate.quantile(0.5)), LiveFrame.seconds(estimate.quantile(0.9)))
            lines.append("estimate  about \(half) left, 90 % within \(most)")
        }
        lines.append("")
        let steps = report.stages(order)
        for (key, step) in steps { lines += stageLines(key, step) }
        let chart = StageChart(steps: steps, end: snapshot.ended ?? now).lines
        if !chart.isEmpty { lines += [""] + chart + (snapshot.files.isEmpty ? [] : [""]) }
        for file in snapshot.orderedFiles {
            lines.append("file      \(file.path)  \(SizeText.describe(file.bytes))  sha256 \(file.sha256)")
        }
        return lines
    }

    private func stageLines(_ key: StepKey, _ step: StepRecord) -> [String] {
        var facts = [step.state.name.rawValue]
        if step.attempts > 1 { facts.append("try \(step.attempts)") }
        if step.bytesSent > 0 { facts.append("sent \(SizeText.describe(step.bytesSent))") }
        if step.bytesReceived > 0 { facts.append("received \(SizeText.describe(step.bytesReceived))") }
        var lines = ["\(key)  " + facts.joined(separator: ", ")]
        if case .waiting(_, let wake, let reason) = step.state {
            let until = wake.time.map { "until \($0)" } ?? "for a resume"
            lines.append("    waits \(until): \(reason.detail ?? reason.kind.rawValue)")
        }
        for member in report.captures(of: key, step) {
            let value = member.value.string ?? member.value.text
            lines.append("    \(member.name) = \(value.count > 200 ? String(value.prefix(200)) + "…" : value)")
        }
        if let expires = step.expires { lines.append("    \(Self.words(for: step.state)) until \(expires)") }
        if case .failed(let failure) = step.state {
            lines += ErrorReport.lines(of: failure).map { "    \($0)" }
        }
        return lines
    }

    /// What is good until a step's ``StepRecord/expires``.
    private static func words(for state: StepState) -> String {
        switch state.name {
        case .succeeded: "its captures are good"
        case .pending: "the link that it was given is good"
        default: "the service keeps what it has"
        }
    }
}
