/// Which lines are shown when the window has fewer rows than there are steps: what is at work or went wrong first, each
/// where it stands among the others. The last row is left for a summary of the rest.
struct LiveChoice {
    let lines: [LiveModel.Line]
    let height: Int

    var chosen: (shown: [LiveModel.Line], rest: [LiveModel.Line]) {
        guard lines.count > height else { return (lines, []) }
        let order = lines.indices.sorted { left, right in
            let (first, second) = (rank(lines[left]), rank(lines[right]))
            // Of those that have ended the latest are news.
            return (first, first >= 4 ? -left : left) < (second, second >= 4 ? -right : right)
        }
        let wanted = Set(order.prefix(max(0, height - 1)))
        return (
            lines.indices.filter(wanted.contains).map { lines[$0] },
            lines.indices.filter { !wanted.contains($0) }.map { lines[$0] }
        )
    }

    private func rank(_ line: LiveModel.Line) -> Int {
        switch line.mark {
        case .failed, .unknown: 0
        case .active: 1
        case .waiting: 2
        case .pending: 3
        case .succeeded: 4
        case .skipped: 5
        }
    }
}
