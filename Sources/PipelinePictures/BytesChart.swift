package import PipelineCore
import PipelineKit

/// Bytes that moved over time, added up.
package struct BytesChart: Sendable {
    private let points: [(seconds: Double, sent: Int64, received: Int64)]
    private static let (first, last, top, bottom) = (64.0, 700.0, 22.0, 160.0)

    /// - Parameters:
    ///   - exchanges: those that are known, in their order.
    ///   - start: the moment that time is counted from.
    package init(_ exchanges: [ExchangeRecord], from start: Timestamp) {
        var moves: [(seconds: Double, sent: Int64, received: Int64)] = []
        for record in exchanges {
            let begun = max(0, (record.started - start).seconds)
            moves.append((begun, 0, 0))
            moves.append(
                (
                    begun + (record.answer?.timings.total ?? 0), record.body?.size ?? 0,
                    record.answer?.body.size ?? 0
                ))
        }
        var (sent, received): (Int64, Int64) = (0, 0)
        points = moves.sorted { $0.seconds < $1.seconds }.map { move in
            sent += move.sent
            received += move.received
            return (move.seconds, sent, received)
        }
    }

    /// Nil where nothing moved.
    package var picture: Picture? {
        guard let end = points.last, let start = points.first, end.sent + end.received > 0, end.seconds > start.seconds
        else { return nil }
        let axis = Axis.bytes(to: Double(max(end.sent, end.received)))
        let time = Axis.seconds(to: end.seconds)
        func x(_ seconds: Double) -> Double { Self.first + seconds / time.end * (Self.last - Self.first) }
        func y(_ value: Int64) -> Double { Self.bottom - Double(value) / axis.end * (Self.bottom - Self.top) }
        var content = Markup.empty
        for mark in axis.marks {
            content += .horizontal(
                Self.bottom - mark / axis.end * (Self.bottom - Self.top), from: Self.first, to: Self.last,
                mark == 0 ? "0" : SizeText.describe(Int64(mark)))
        }
        for kind in ["sent", "received"] {
            var path = Markup.empty
            for (index, point) in points.enumerated() {
                let value = kind == "sent" ? point.sent : point.received
                path += index == 0 ? "M" : "L"
                path += "\(x(point.seconds)) \(y(value))"
            }
            content += "<path class=\"line \(kind)\" d=\"\(path)\"/>"
        }
        content += "<line class=\"base\" x1=\"\(Self.first)\" x2=\"700\" y1=\"\(Self.bottom)\" y2=\"\(Self.bottom)\"/>"
        for mark in time.marks {
            content += """
                <text class="mark" x="\(x(mark))" y="\(Self.bottom + 17)" text-anchor="middle">\(Axis.span(mark))</text>
                """
        }
        content += """
            <text class="value sent" x="\(Self.first + 8)" y="12">▬ sent \(SizeText.describe(end.sent))</text>\
            <text class="value received" x="\(Self.first + 168)" y="12">╍ received \(SizeText.describe(end.received))</text>
            """
        let step = max(1, points.count / 40)
        return Picture(
            title: "Bytes over time, of the exchanges that are kept", height: 186,
            columns: ["after", "sent", "received"],
            rows: stride(from: 0, to: points.count, by: step).map { index in
                let point = points[index]
                return [
                    DurationText.fine(point.seconds), SizeText.describe(point.sent),
                    SizeText.describe(point.received),
                ]
            }, content: content)
    }
}
