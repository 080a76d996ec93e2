import CLibrary
import PipelineCore

/// The spread of durations, in one line of blocks: each as many times as its height says, from the shortest to the
/// longest in equal steps of their logarithm.
struct DurationChart {
    /// Seconds.
    let durations: [Double]

    private static let blocks = Array("▁▂▃▄▅▆▇█")
    private static let columns = 24

    /// Nil for fewer than three, of which a list says more.
    var line: String? {
        let known = durations.map { max($0, 0.001) }
        guard known.count >= 3, let least = known.min(), let most = known.max() else { return nil }
        let ratio = most / least
        var counts = [Int](repeating: 0, count: ratio < 1.05 ? 1 : Self.columns)
        for duration in known { counts[place(of: duration / least, in: ratio, counts.count)] += 1 }
        let highest = counts.max() ?? 1
        let text = counts.map { count in
            count == 0 ? " " : String(Self.blocks[(count * Self.blocks.count - 1) / highest])
        }.joined()
        return "\(DurationText.rounded(least)) \(text) \(DurationText.rounded(most))"
    }

    /// The column of a value so many times the least, of a span from 1 to `ratio`.
    private func place(of value: Double, in ratio: Double, _ columns: Int) -> Int {
        guard columns > 1 else { return 0 }
        return min(columns - 1, Int(log(value) / log(ratio) * Double(columns)))
    }
}
