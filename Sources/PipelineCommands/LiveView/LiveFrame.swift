import PipelineCore
import PipelineKit

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

    private static let spinner = Array("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏")

    var rows: [StyledText] {
        let (shown, rest) = LiveChoice(lines: model.lines, height: height).chosen
        let widest = shown.map { TextColumns.count(SafeText.line(Self.name($0))) }.max() ?? 0
        let names = min(widest, max(6, (width - 3) / 3))
        return shown.map { row($0, names: names) } + (rest.isEmpty ? [] : [summary(rest)])
    }

    private static func name(_ line: LiveModel.Line) -> String { (line.isItem ? "  " : "") + line.name }

    private func row(_ line: LiveModel.Line, names: Int) -> StyledText {
        let (mark, color) = mark(line)
        let name = StyledText(Self.name(line)).padded(to: names)
        let room = max(1, width - 3)
        let variants = details(line).map { $0.isEmpty ? name : "\(name)  \($0)" }
        // Without blanks at the end: of those nobody knows whether a terminal that becomes narrower breaks them.
        let text = (variants.first { $0.columns <= room } ?? variants.last ?? name).fitted(to: room)
        return "\(mark, color) \(text)"
    }

    private func summary(_ rest: [LiveModel.Line]) -> StyledText {
        let counts: [(LiveModel.Mark, String)] = [
            (.failed, "failed"), (.unknown, "unknown"), (.active, "at work"), (.waiting, "waiting"),
            (.pending, "to come"), (.succeeded, "done"), (.skipped, "skipped"),
        ]
        let parts = counts.compactMap { mark, word in
            let count = rest.count { $0.mark == mark }
            return count == 0 ? nil : "\(count) \(word)"
        }
        let text = StyledText("\(rest.count) more: \(parts.joined(separator: ", "))").fitted(to: max(1, width - 3))
        return "\("⋮", .dim) \(text)"
    }

    private func mark(_ line: LiveModel.Line) -> (String, StyledText.Style) {
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

    /// Returns what follows the name, from the richest form to the shortest: a narrow window gets what fits.
    private func details(_ line: LiveModel.Line) -> [StyledText] {
        if let items = line.items { return details(line, items) }
        switch line.mark {
        case .pending: return [""]
        case .succeeded:
            let parts = [line.done.map(SizeText.describe), took(line)].compactMap(\.self)
            return [StyledText(parts.joined(separator: " in "))]
        case .failed, .skipped, .unknown, .waiting: return [StyledText(note(line) ?? "")]
        case .active:
            return (0...4).map { level in
                let parts = [transfer(line, level), estimate(line, level), level < 2 ? note(line) : nil]
                return StyledText(parts.compactMap(\.self).joined(separator: "  "))
            }
        }
    }

    /// Of a stage that is repeated: a bar with counts and failures.
    private func details(_ line: LiveModel.Line, _ items: LiveModel.Items) -> [StyledText] {
        let failed: StyledText = items.failed == 0 ? "" : "  \("✗\(items.failed)", .red)"
        let done = items.done + items.failed
        let counts = items.total.map { "\(done)/\($0)" } ?? "\(done)"
        if line.ended != nil {
            let whole = [line.done.map(SizeText.describe), took(line)].compactMap(\.self).joined(separator: " in ")
            let items = "\(done)\(done == 1 ? " item" : " items")"
            return ["\(items)\(failed)  \(whole)", "\(items)\(failed)", "\(done)\(failed)"]
        }
        let work = [
            items.active == 0 ? nil : "\(items.active) at work", items.waiting == 0 ? nil : "\(items.waiting) waiting",
            note(line),
        ].compactMap(\.self).map { "  \($0)" }
        let share = items.total.map { $0 == 0 ? 1 : min(1, Double(done) / Double($0)) }
        return (0...4).map { level in
            let bar = level < 3 ? share.map { Self.bar($0, level == 0 ? 20 : 10) + " " } ?? "" : ""
            return
                "\(bar)\(counts)\(level < 4 ? failed : "")\(level < 2 ? work.joined() : level == 2 ? work.first ?? "" : "")"
        }
    }

    private func note(_ line: LiveModel.Line) -> String? {
        guard let note = line.note else { return nil }
        return note.text + (note.until.map { " \(TimeText(now: now).until($0))" } ?? "")
    }

    private func took(_ line: LiveModel.Line) -> String? {
        guard let started = line.started, let ended = line.ended else { return nil }
        return DurationText.rounded(ended.seconds(since: started))
    }

    private func transfer(_ line: LiveModel.Line, _ level: Int) -> String? {
        guard let done = line.done else { return nil }
        guard let total = line.total, total > 0 else { return SizeText.describe(done) }
        let share = min(1, Double(done) / Double(total))
        let percent = "\(Int(share * 100)) %"
        let sizes = "\(SizeText.describe(done)) of \(SizeText.describe(total))"
        let rate = line.rate.flatMap { $0 > 0 ? RateText.describe($0) : nil }
        let left = line.rate.flatMap {
            $0 > 0 && done < total ? "\(DurationText.rounded(Double(total - done) / $0)) left" : nil
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
        let (half, most) = (DurationText.rounded(max(0, median - passed)), DurationText.rounded(max(0, upper - passed)))
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
}
