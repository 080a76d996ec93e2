package import PipelineCore
import PipelineKit

/// The number of items of a batch that ended in each slot of time, those that failed on top.
package struct RateChart: Sendable {
    private let slots: [(good: Int, bad: Int)]
    private let slot: Double

    private static let (first, last, top, bottom) = (48.0, 700.0, 14.0, 160.0)
    /// That many columns are as many as can be told apart.
    package static let columns = 60

    /// - Parameter slot: the length of each slot.
    package init(_ ends: [ItemEnds], slot: Duration) {
        let count = min(Self.columns, max(1, (ends.map(\.slot).max() ?? 0) + 1))
        var slots = [(good: Int, bad: Int)](repeating: (0, 0), count: count)
        for end in ends where end.slot < count && end.slot >= 0 {
            if end.state == .succeeded { slots[end.slot].good += end.count } else { slots[end.slot].bad += end.count }
        }
        self.slots = slots
        self.slot = max(slot.seconds, 0.001)
    }

    /// Nil before the first item has ended.
    package var picture: Picture? {
        guard slots.contains(where: { $0.good + $0.bad > 0 }) else { return nil }
        let axis = Axis.numbers(to: Double(slots.map { $0.good + $0.bad }.max() ?? 1))
        func y(_ value: Int) -> Double { Self.bottom - Double(value) / axis.end * (Self.bottom - Self.top) }
        let width = min(40, (Self.last - Self.first) / Double(slots.count))
        func x(_ slot: Double) -> Double { Self.first + slot * width }
        var content = Markup.empty
        for mark in axis.marks {
            content += .horizontal(
                Self.bottom - mark / axis.end * (Self.bottom - Self.top), from: Self.first, to: Self.last,
                "\(Int(mark))")
        }
        for (index, value) in slots.enumerated() where value.good + value.bad > 0 {
            let words = "\(value.good) succeeded, \(value.bad) did not"
            content += """
                <g><title>\(words)</title>\
                <rect class="column" x="\(x(Double(index)) + 0.5)" y="\(y(value.good))" width="\(width - 1)" \
                height="\(Self.bottom - y(value.good))"/>\
                <rect class="column failed" x="\(x(Double(index)) + 0.5)" y="\(y(value.good + value.bad))" \
                width="\(width - 1)" height="\(y(value.good) - y(value.good + value.bad))"/></g>
                """
        }
        content += "<line class=\"base\" x1=\"48\" x2=\"700\" y1=\"\(Self.bottom)\" y2=\"\(Self.bottom)\"/>"
        for mark in Axis.seconds(to: Double(slots.count) * slot, about: 7).marks {
            content += """
                <text class="mark" x="\(x(mark / slot))" y="\(Self.bottom + 17)" text-anchor="middle">\
                \(Axis.span(mark))</text>
                """
        }
        return Picture(
            title: "Items that ended, in each \(Axis.span(slot))", height: 186,
            columns: ["after", "succeeded", "failed or cancelled"],
            rows: slots.enumerated().map { index, value in
                [Axis.span(Double(index) * slot), "\(value.good)", "\(value.bad)"]
            }, content: content)
    }
}
