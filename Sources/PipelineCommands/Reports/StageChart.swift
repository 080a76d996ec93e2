import PipelineCore
import PipelineKit

/// The times when the steps of a job were at work, as bars over one line of time.
struct StageChart {
    let steps: [(StepKey, StepRecord)]
    /// The time when the job ended, or now.
    let end: Timestamp
    /// Of the terminal; nil for a pipe.
    var width: Int?

    /// Of the bars, in a window that is wide enough.
    private static let bars = 48
    private static let most = 40

    /// Nothing for a job of which nothing has begun, or all of which fits into one moment.
    var lines: [String] {
        let begun = steps.filter { $0.1.started != nil && !isSummed($0.0) }
        guard let start = begun.compactMap(\.1.started).min(), (end - start).seconds >= 0.001 else { return [] }
        let shown = begun.prefix(Self.most)
        let names = min(24, shown.map { TextColumns.count($0.0.description) }.max() ?? 0)
        let columns = min(Self.bars, (width ?? .max) - names - 10)
        // A narrower window has no room for pictures.
        if columns < 8 { return [] }
        let whole = DurationText.rounded((end - start).seconds)
        let scale = "0" + String(repeating: " ", count: max(1, columns - 1 - whole.count)) + whole
        let head = TextColumns.padded("", to: names) + "  " + scale
        let rows = shown.map { key, step in
            TextColumns.padded(key.description, to: names) + "  " + bar(step, from: start, columns)
        }
        let rest = begun.count > shown.count ? ["… and \(begun.count - shown.count) more"] : []
        return [head] + rows + rest
    }

    /// A stage that is repeated is shown by its items.
    private func isSummed(_ key: StepKey) -> Bool {
        key.item == nil && steps.contains { $0.0.stage == key.stage && $0.0.item != nil }
    }

    private func bar(_ step: StepRecord, from start: Timestamp, _ columns: Int) -> String {
        let whole = (end - start).seconds
        let first = ((step.started ?? start) - start).seconds / whole
        let last = ((step.ended ?? end) - start).seconds / whole
        let from = min(columns - 1, Int(first * Double(columns)))
        let length = max(1, Int((last * Double(columns)).rounded(.up)) - from)
        let filled = String(repeating: step.ended == nil ? "▒" : "█", count: min(length, columns - from))
        let time = DurationText.rounded((step.ended ?? end).seconds(since: step.started ?? start))
        return String(repeating: " ", count: from) + filled + " " + time
    }
}
