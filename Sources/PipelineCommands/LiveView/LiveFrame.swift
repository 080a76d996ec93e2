import PipelineCore

/// One picture of the live view: rows of text no wider than the terminal, and no more of them than it has.
struct LiveFrame {
    let model: LiveModel
    let now: Timestamp
    /// Which picture of the spinner.
    let turn: Int
    /// Columns of the terminal.
    let width: Int
    /// The most rows that can be redrawn in place.
    var height = Int.max
    let style: @Sendable (String, Console.Style) -> String

    private static let spinner = Array("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏")

    /// A row as it is written.
    struct Row: Equatable {
        let text: String
        /// How many columns it takes.
        let columns: Int
    }

    var rows: [Row] {
        let (shown, rest) = LiveChoice(lines: model.lines, height: height).chosen
        let widest = shown.map { TextColumns.count(SafeText.line($0.name)) }.max() ?? 0
        let names = min(widest, max(6, (width - 3) / 3))
        return shown.map { row($0, names: names) } + (rest.isEmpty ? [] : [summary(rest)])
    }

    private func row(_ line: LiveModel.Line, names: Int) -> Row {
        let (mark, color) = mark(line)
        let name = TextColumns.padded(SafeText.line(line.name), to: names)
        let room = max(1, width - 3)
        let variants = details(line).map { $0.isEmpty ? name : "\(name)  \(SafeText.line($0))" }
        let text =
            variants.first { TextColumns.count($0) <= room } ?? TextColumns.fitted(variants.last ?? name, to: room)
        let oneLine = text.replacing("\n", with: " ")
        return Row(text: "\(style(mark, color)) \(oneLine)", columns: TextColumns.count(oneLine) + 2)
    }

    private func summary(_ rest: [LiveModel.Line]) -> Row {
        let counts: [(LiveModel.Line.Mark, String)] = [
            (.failed, "failed"), (.unknown, "unknown"), (.active, "at work"), (.waiting, "waiting"),
            (.pending, "to come"), (.succeeded, "done"), (.skipped, "skipped"),
        ]
        let parts = counts.compactMap { mark, word in
            let count = rest.count { $0.mark == mark }
            return count == 0 ? nil : "\(count) \(word)"
        }
        let text = TextColumns.fitted("\(rest.count) more: \(parts.joined(separator: ", "))", to: max(1, width - 3))
        return Row(text: "\(style("⋮", .dim)) \(text)", columns: TextColumns.count(text) + 2)
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

    /// What stands behind the name, from the richest form to the shortest: a narrow window gets what fits.
    private func details(_ line: LiveModel.Line) -> [String] {
        switch line.mark {
        case .pending: [""]
        case .succeeded: [[line.done.map(SizeText.describe), took(line)].compactMap { $0 }.joined(separator: " in ")]
        case .failed, .skipped, .unknown, .waiting: [line.note ?? ""]
        case .active:
            (0...4).map { level in
                [transfer(line, level), estimate(line, level), level < 2 ? line.note : nil].compactMap { $0 }
                    .joined(separator: "  ")
            }
        }
    }

    private func took(_ line: LiveModel.Line) -> String? {
        guard let started = line.started, let ended = line.ended else { return nil }
        return Self.seconds((ended - started).seconds)
    }

    private func transfer(_ line: LiveModel.Line, _ level: Int) -> String? {
        guard let done = line.done else { return nil }
        guard let total = line.total, total > 0 else { return SizeText.describe(done) }
        let share = min(1, Double(done) / Double(total))
        let percent = "\(Int(share * 100)) %"
        let sizes = "\(SizeText.describe(done)) of \(SizeText.describe(total))"
        let rate = line.rate.flatMap { $0 > 0 ? "\(SizeText.describe(Int64($0)))/s" : nil }
        let left = line.rate.flatMap {
            $0 > 0 && done < total ? "\(Self.seconds(Double(total - done) / $0)) left" : nil
        }
        let parts: [String?] =
            switch level {
            case 0: [Self.bar(share, 20), percent, sizes, rate, left]
            case 1: [Self.bar(share, 10), percent, rate, left]
            case 2: [percent, rate, left]
            case 3: [percent, left]
            default: [percent]
            }
        return parts.compactMap { $0 }.joined(separator: "  ")
    }

    private func estimate(_ line: LiveModel.Line, _ level: Int) -> String? {
        let percent = line.share.map { "\(Int($0 * 100)) %" }
        guard let median = line.median, let upper = line.upper, let since = line.estimatedAt else { return percent }
        let passed = (now - since).seconds
        let (half, most) = (Self.seconds(max(0, median - passed)), Self.seconds(max(0, upper - passed)))
        let left =
            switch level {
            case 0: "about \(half) left, 90 % within \(most)"
            case 1: "about \(half) left, at most \(most)"
            case 2: "about \(half) left"
            default: "\(half) left"
            }
        return [percent, left].compactMap { $0 }.joined(separator: "  ")
    }

    private static func bar(_ share: Double, _ columns: Int) -> String {
        let filled = Int(share * Double(columns))
        return String(repeating: "█", count: filled) + String(repeating: "░", count: columns - filled)
    }

    /// A time in the one unit that suits it.
    static func seconds(_ seconds: Double) -> String {
        switch seconds {
        case ..<10: "\((seconds * 10).rounded() / 10) s"
        case ..<120: "\(Int(seconds.rounded())) s"
        case ..<7200: "\(Int((seconds / 60).rounded())) min"
        default: "\(Int((min(1e15, seconds) / 3600).rounded())) h"
        }
    }
}
