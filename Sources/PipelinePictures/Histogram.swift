import CLibrary
package import PipelineCore
import PipelineKit

/// The spread of durations: columns of equal width, the median and what was promised for nine of ten.
package struct Histogram: Sendable {
    private let title: String
    private let durations: [Double]
    private let promised: Double?

    private static let (first, last, top, bottom) = (48.0, 700.0, 30.0, 170.0)

    /// - Parameters:
    ///   - durations: seconds.
    ///   - promised: the median of the p90 that were promised for them, in seconds; nil when nothing was.
    package init(title: String, durations: [Double], promised: Double?) {
        self.title = title
        self.durations = durations.map { max($0, 0.001) }.sorted()
        self.promised = promised
    }

    /// The durations of a stage against the median of the p90 that were promised for them.
    package init(_ pipeline: String, _ stage: String, _ samples: [StageSample]) {
        let promised = samples.compactMap(\.p90).sorted()
        self.init(
            title: "\(pipeline), \(stage): how long \(samples.count == 1 ? "1 job" : "\(samples.count) jobs") took",
            durations: samples.map(\.seconds), promised: promised.isEmpty ? nil : promised[promised.count / 2])
    }

    /// Nil without durations.
    package var picture: Picture? {
        guard let least = durations.first, let most = durations.last else { return nil }
        let end = max(most, promised ?? 0, 0.001) * 1.02
        // What spans more than a power of ten is seen by its logarithm only.
        let isLogarithmic = most / least > 12
        let start = isLogarithmic ? least * 0.9 : 0
        let count = max(6, min(30, Int(Double(durations.count).squareRoot() * 2)))
        func place(_ seconds: Double) -> Double {
            let share =
                isLogarithmic ? log(max(seconds, start) / start) / log(end / start) : (seconds - start) / (end - start)
            return max(0, min(1, share))
        }
        func edge(_ index: Int) -> Double {
            let share = Double(index) / Double(count)
            return isLogarithmic ? start * pow(end / start, share) : start + (end - start) * share
        }
        func x(_ seconds: Double) -> Double { Self.first + place(seconds) * (Self.last - Self.first) }
        var counts = [Int](repeating: 0, count: count)
        for duration in durations { counts[min(count - 1, Int(place(duration) * Double(count)))] += 1 }
        let axis = Axis.numbers(to: Double(counts.max() ?? 1), about: 3)
        func y(_ value: Double) -> Double { Self.bottom - value / axis.end * (Self.bottom - Self.top) }

        var content = Markup.empty
        for mark in axis.marks { content += .horizontal(y(mark), from: Self.first, to: Self.last, "\(Int(mark))") }
        let width = (Self.last - Self.first) / Double(count)
        for (index, value) in counts.enumerated() where value > 0 {
            content += """
                <rect class="column" x="\(Self.first + Double(index) * width + 1)" y="\(y(Double(value)))" \
                width="\(width - 2)" height="\(Self.bottom - y(Double(value)))" rx="2">\
                <title>\(value) from \(DurationText.fine(edge(index))) to \(DurationText.fine(edge(index + 1)))</title></rect>
                """
        }
        content += "<line class=\"base\" x1=\"48\" x2=\"700\" y1=\"\(Self.bottom)\" y2=\"\(Self.bottom)\"/>"
        let marks = isLogarithmic ? Self.marks(from: start, to: end) : Axis.seconds(to: end).marks
        for mark in marks {
            content += """
                <text class="mark" x="\(x(mark))" y="\(Self.bottom + 17)" text-anchor="middle">\(Axis.span(mark))</text>
                """
        }
        let median = durations[durations.count / 2]
        let isMedianLeft = promised.map { $0 >= median } ?? (place(median) > 0.6)
        content += Self.line("middle", "median \(DurationText.fine(median))", x(median), leads: isMedianLeft)
        if let promised {
            content += Self.line(
                "promise", "promised p90 \(DurationText.fine(promised))", x(promised), leads: !isMedianLeft)
        }
        return Picture(
            title: title, height: 200, columns: ["from", "to", "how many"],
            rows: counts.enumerated().filter { $0.1 > 0 }.map { index, value in
                [DurationText.fine(edge(index)), DurationText.fine(edge(index + 1)), "\(value)"]
            } + [["median", DurationText.fine(median), ""]]
                + (promised.map { [["promised p90", DurationText.fine($0), ""]] } ?? []),
            content: content)
    }

    /// - Parameter leads: whether its words stand before the line.
    private static func line(_ kind: String, _ words: String, _ x: Double, leads: Bool) -> Markup {
        // Near an edge there is room on the other side alone.
        let isLeft = x > last - 130 || (leads && x > first + 130)
        return """
            <line class="\(kind)" x1="\(x)" x2="\(x)" y1="\(top - 12)" y2="\(bottom)"/>\
            <text class="value" x="\(isLeft ? x - 5 : x + 5)" y="\(top - 6)" \
            text-anchor="\(isLeft ? "end" : "start")">\(words)</text>
            """
    }

    private static func marks(from start: Double, to end: Double) -> [Double] {
        let all = [
            0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 60, 180, 600, 1800, 3600, 10800, 43200, 86400, 259_200,
            604_800,
        ]
        return all.filter { $0 >= start && $0 <= end }
    }
}

extension Markup {
    /// A line of the grid with its number.
    static func horizontal(_ y: Double, from: Double, to: Double, _ text: String) -> Markup {
        """
        <line class="grid" x1="\(from)" x2="\(to)" y1="\(y)" y2="\(y)"/>\
        <text class="mark" x="\(from - 7)" y="\(y + 4)" text-anchor="end">\(text)</text>
        """
    }
}
