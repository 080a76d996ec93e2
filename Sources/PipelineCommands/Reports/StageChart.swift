import PipelineCore

/// When the steps of a job were at work, as bars over one line of time.
struct StageChart {
    let steps: [(StepKey, StepRecord)]
    /// When the job ended, or now.
    let end: Timestamp

    private static let columns = 48
    private static let most = 40

    /// Nothing for a job of which nothing has begun, or all of which fits into one moment.
    var lines: [String] {
        let begun = steps.filter { $0.1.started != nil && !isSummed($0.0) }
        guard let start = begun.compactMap(\.1.started).min(), (end - start).seconds >= 0.001 else { return [] }
        let shown = begun.prefix(Self.most)
        let names = min(24, shown.map { TextColumns.count($0.0.description) }.max() ?? 0)
        let whole = LiveFrame.seconds((end - start).seconds)
        let scale = "0" + String(repeating: " ", count: max(1, Self.columns - 1 - whole.count)) + whole
        let head = TextColumns.padded("", to: names) + "  " + scale
        let rows = shown.map { key, step in
            TextColumns.padded(key.description, to: names) + "  " + bar(step, from: start)
        }
        let rest = begun.count > shown.count ? ["… and \(begun.count - shown.count) more"] : []
        return [head] + rows + rest
    }

    /// A stage that is repeated is shown by its items.
    private func isSummed(_ key: StepKey) -> Bool {
        key.item == nil && steps.contains { $0.0.stage == key.stage && $0.0.item != nil }
    }

    private func bar(_ step: StepRecord, from start: Timestamp) -> String {
        let whole = (end - start).seconds
        let first = ((step.started ?? start) - start).seconds / whole
        let last = ((step.ended ?? end) - start).seconds / whole
        let from = min(Self.columns - 1, Int(first * Double(Self.columns)))
        let length = max(1, Int((last * Double(Self.columns)).rounded(.up)) - from)
        let filled = String(repeating: step.ended == nil ? "▒" : "█", count: min(length, Self.columns - from))
        let time = LiveFrame.seconds(((step.ended ?? end) - (step.started ?? start)).seconds)
        return String(repeating: " ", count: from) + filled + " " + time
    }
}
