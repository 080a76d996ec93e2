/// Which lines are shown when the window has fewer rows than there are steps: stages before items, and what is at work or
/// went wrong first, each where it stands among the others. The last row is left for a summary of other stages.
struct LiveChoice {
    let lines: [LiveModel.Line]
    let height: Int
    /// That many failed items of the whole job are shown by name, the last ones.
    private static let failures = 5

    /// - Returns: what is shown, and the stages that are not.
    var chosen: (shown: [LiveModel.Line], rest: [LiveModel.Line]) {
        let stages = lines.indices.filter { !lines[$0].isItem }
        let failed = lines.indices.filter { lines[$0].isItem && Self.hasFailed(lines[$0]) }
        let active = lines.indices.filter { lines[$0].isItem && !Self.hasFailed(lines[$0]) }
        guard stages.count <= height else {
            let wanted = Set(stages.sorted { precedes($0, $1) }.prefix(max(0, height - 1)))
            return (
                stages.filter(wanted.contains).map { lines[$0] },
                stages.filter { !wanted.contains($0) }.map { lines[$0] }
            )
        }
        let items = active.sorted { precedes($0, $1) } + failed.suffix(Self.failures).reversed()
        let wanted = Set(stages + items.prefix(height - stages.count))
        return (lines.indices.filter(wanted.contains).map { lines[$0] }, [])
    }

    private func precedes(_ left: Int, _ right: Int) -> Bool {
        let (first, second) = (rank(lines[left]), rank(lines[right]))
        // Of those that have ended the latest are news.
        return (first, first >= 4 ? -left : left) < (second, second >= 4 ? -right : right)
    }

    private static func hasFailed(_ line: LiveModel.Line) -> Bool { line.mark == .failed || line.mark == .unknown }

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
