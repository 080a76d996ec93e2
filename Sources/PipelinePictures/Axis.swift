import CLibrary
import PipelineCore
import PipelineKit

/// An axis from 0 to at least a value, with round marks.
struct Axis {
    let end: Double
    let marks: [Double]

    private init(end: Double, step: Double) {
        self.end = end
        marks = Array(stride(from: 0, through: end + step * 0.001, by: step))
    }

    /// Steps of 1, 2 and 5 times a power of the base.
    static func numbers(to most: Double, about count: Int = 4) -> Axis {
        let least = max(most, 1)
        var step = 1.0
        while least / step > Double(count) {
            for factor in [2.0, 2.5, 2.0] where least / step > Double(count) { step *= factor }
        }
        return Axis(end: (least / step).rounded(.up) * step, step: step)
    }

    /// Steps as people part time, in seconds.
    static func seconds(to most: Double, about count: Int = 6) -> Axis {
        let steps = [
            0.001, 0.005, 0.01, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200,
            14400, 21600,
            43200, 86400, 172_800, 604_800,
        ]
        let length = max(most, 0.001)
        let step = steps.first { length / $0 <= Double(count) } ?? (length / Double(count))
        return Axis(end: length, step: step)
    }

    /// Steps of powers of two, in bytes.
    static func bytes(to most: Double) -> Axis {
        var step = 1.0
        while max(most, 1) / step > 4 { step *= 2 }
        return Axis(end: (max(most, 1) / step).rounded(.up) * step, step: step)
    }

    /// A length of time without more digits than it needs.
    static func span(_ seconds: Double) -> String {
        if seconds == 0 { return "0" }
        if seconds < 1 { return "\(Int((seconds * 1000).rounded())) ms" }
        if seconds < 120 { return seconds == seconds.rounded() ? "\(Int(seconds)) s" : DurationText.rounded(seconds) }
        if seconds < 7200 { return "\(Int((seconds / 60).rounded())) min" }
        if seconds < 172_800 { return "\(Int((seconds / 3600).rounded())) h" }
        return "\(Int((seconds / 86_400).rounded())) d"
    }
}
