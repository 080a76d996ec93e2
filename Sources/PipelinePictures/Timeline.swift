package import PipelineCore
import PipelineKit

/// The times when the steps of a job were at work, one bar each over one line of time, against the median of earlier
/// jobs.
package struct Timeline: Sendable {
    /// One bar.
    package struct Bar: Sendable {
        let name: String
        let state: StepState.Name
        let start: Double
        let end: Double
        let median: Double?

        /// - Parameters:
        ///   - start: seconds since the job's start; `end` likewise, of a step under way now.
        ///   - median: how many seconds half of the earlier ones took at most.
        package init(name: String, state: StepState.Name, start: Double, end: Double, median: Double?) {
            self.name = name
            self.state = state
            self.start = max(0, start)
            self.end = max(start, end)
            self.median = median
        }
    }

    private let bars: [Bar]
    private let left: Int
    private static let most = 40
    private static let rowHeight = 26.0
    private static let (first, last) = (168.0, 640.0)

    package init(_ bars: [Bar]) {
        self.bars = Array(bars.prefix(Self.most))
        left = bars.count - self.bars.count
    }

    /// The bars of a job's steps that have begun; of a repeated stage its items.
    ///
    /// - Parameter medians: in seconds, by stage.
    package init(
        _ steps: [(StepKey, StepRecord)], from start: Timestamp, now: Timestamp, medians: [String: Double]
    ) {
        let repeated = Set(steps.lazy.filter { $0.0.item != nil }.map(\.0.stage))
        self.init(
            steps.compactMap { key, step in
                guard let began = step.started, key.item != nil || !repeated.contains(key.stage) else { return nil }
                return Bar(
                    name: key.description, state: step.state.name, start: (began - start).seconds,
                    end: ((step.ended ?? now) - start).seconds, median: medians[key.stage])
            })
    }

    /// Nil where nothing has begun.
    package var picture: Picture? {
        guard !bars.isEmpty else { return nil }
        let most = bars.map { max($0.end, $0.start + ($0.median ?? 0)) }.max() ?? 0
        let axis = Axis.seconds(to: max(most, 0.001))
        let bottom = 14 + Double(bars.count) * Self.rowHeight
        func x(_ seconds: Double) -> Double { Self.first + seconds / axis.end * (Self.last - Self.first) }
        var content = Markup.empty
        for mark in axis.marks {
            content += """
                <line class="grid" x1="\(x(mark))" x2="\(x(mark))" y1="8" y2="\(bottom)"/>\
                <text class="mark" x="\(x(mark))" y="\(bottom + 16)" text-anchor="middle">\(Axis.span(mark))</text>
                """
        }
        content += "<line class=\"base\" x1=\"\(Self.first)\" x2=\"\(Self.last)\" y1=\"\(bottom)\" y2=\"\(bottom)\"/>"
        for (index, bar) in bars.enumerated() { content += row(bar, y: 12 + Double(index) * Self.rowHeight, x) }
        let note = bars.contains { $0.median != nil } ? "◇ half of the earlier ones took at most so long" : ""
        let rest = left > 0 ? "and \(left) more" : ""
        content += """
            <text class="note" x="\(Self.first)" y="\(bottom + 36)">\(note)</text>\
            <text class="note" x="12" y="\(bottom + 36)">\(rest)</text>
            """
        return Picture(
            title: "When each stage was at work", height: bottom + 46,
            columns: ["stage", "state", "began after", "took", "earlier ones, median"],
            rows: bars.map {
                [
                    $0.name, $0.state.rawValue, DurationText.fine($0.start), DurationText.fine($0.end - $0.start),
                    $0.median.map(DurationText.fine) ?? "unknown",
                ]
            }, content: content)
    }

    private func row(_ bar: Bar, y: Double, _ x: (Double) -> Double) -> Markup {
        let (from, to) = (x(bar.start), x(bar.end))
        let width = max(2, to - from)
        let took = DurationText.fine(bar.end - bar.start)
        var markup: Markup = """
            <text class="name" x="\(Self.first - 10)" y="\(y + 14)" text-anchor="end">\(Self.shortened(bar.name))</text>\
            <rect class="bar \(bar.state.rawValue)" x="\(from)" y="\(y + 2)" width="\(width)" height="17" rx="3">\
            <title>\(bar.name), \(bar.state.rawValue), took \(took)</title></rect>\
            <text class="value" x="\(max(from + width, bar.median.map { x(bar.start + $0) + 4 } ?? 0) + 6)" \
            y="\(y + 15)">\(took)</text>
            """
        if let median = bar.median {
            let at = x(bar.start + median)
            markup += """
                <path class="median" d="M\(at) \(y + 5)l5 5.5l-5 5.5l-5 -5.5z">\
                <title>half of the earlier ones took at most \(DurationText.fine(median))</title></path>
                """
        }
        return markup
    }

    private static func shortened(_ name: String) -> String { name.count > 22 ? name.prefix(21) + "…" : name }
}
