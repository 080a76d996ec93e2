import PipelineCore

/// One picture of the live view: lines of text no wider than the terminal.
struct LiveFrame {
    let model: LiveModel
    let now: Timestamp
    /// Which picture of the spinner.
    let turn: Int
    /// Columns of the terminal.
    let width: Int
    let style: @Sendable (String, Console.Style) -> String

    private static let spinner = Array("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏")

    var lines: [String] {
        let names = model.lines.map(\.name.count).max() ?? 0
        return model.lines.map { line in
            let (mark, color) = mark(line)
            let name = line.name.padded(to: names)
            let text = fitted("\(name)  \(details(line))", to: max(10, width - 3))
            return "\(style(mark, color)) \(text)"
        }
    }

    private func mark(_ line: LiveModel.Line) -> (String, Console.Style) {
        switch line.mark {
        case .pending: ("·", .dim)
        case .active: (String(Self.spinner[turn % Self.spinner.count]), .cyan)
        case .waiting: ("…", .yellow)
        case .succeeded: ("✓", .green)
        case .failed: ("✗", .red)
        case .skipped: ("–", .dim)
        case .unknown: ("?", .yellow)
        }
    }

    private func details(_ line: LiveModel.Line) -> String {
        switch line.mark {
        case .pending: ""
        case .succeeded: [line.done.map(SizeText.describe), took(line)].compactMap { $0 }.joined(separator: " in ")
        case .failed, .skipped, .unknown, .waiting: line.note ?? ""
        case .active: [transfer(line), estimate(line), line.note].compactMap { $0 }.joined(separator: "  ")
        }
    }

    private func took(_ line: LiveModel.Line) -> String? {
        guard let started = line.started, let ended = line.ended else { return nil }
        return Self.seconds((ended - started).seconds)
    }

    private func transfer(_ line: LiveModel.Line) -> String? {
        guard let done = line.done else { return nil }
        guard let total = line.total, total > 0 else { return SizeText.describe(done) }
        let share = min(1, Double(done) / Double(total))
        var parts = [
            Self.bar(share), "\(Int(share * 100)) %", "\(SizeText.describe(done)) of \(SizeText.describe(total))",
        ]
        if let rate = line.rate, rate > 0 {
            parts.append("\(SizeText.describe(Int64(rate)))/s")
            if done < total { parts.append("\(Self.seconds(Double(total - done) / rate)) left") }
        }
        return parts.joined(separator: "  ")
    }

    private func estimate(_ line: LiveModel.Line) -> String? {
        let percent = line.share.map { "\(Int($0 * 100)) %" }
        guard let median = line.median, let upper = line.upper, let since = line.estimatedAt else { return percent }
        let passed = (now - since).seconds
        let left =
            "about \(Self.seconds(max(0, median - passed))) left, 90 % within \(Self.seconds(max(0, upper - passed)))"
        return [percent, left].compactMap { $0 }.joined(separator: "  ")
    }

    private static func bar(_ share: Double) -> String {
        let filled = Int(share * 20)
        return String(repeating: "█", count: filled) + String(repeating: "░", count: 20 - filled)
    }

    /// A time in the one unit that suits it.
    static func seconds(_ seconds: Double) -> String {
        switch seconds {
        case ..<10: "\((seconds * 10).rounded() / 10) s"
        case ..<120: "\(Int(seconds.rounded())) s"
        case ..<7200: "\(Int((seconds / 60).rounded())) min"
        default: "\(Int((seconds / 3600).rounded())) h"
        }
    }

    private func fitted(_ text: String, to columns: Int) -> String {
        let safe = SafeText.line(text).replacing("\n", with: " ")
        return safe.count <= columns ? safe : String(safe.prefix(columns - 1)) + "…"
    }
}

extension String {
    fileprivate func padded(to count: Int) -> String {
        self.count >= count ? self : self + String(repeating: " ", count: count - self.count)
    }
}
