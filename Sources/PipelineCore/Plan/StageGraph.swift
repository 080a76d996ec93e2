/// Which stages wait for which, by their positions in the document.
struct StageGraph {
    /// For each stage the positions of those that it needs.
    let needs: [[Int]]

    /// Positions in an order in which each comes after all that it needs (Kahn, 1962); those that are in a cycle, or
    /// wait for one, are left out.
    func ordered() -> [Int] {
        var open = needs.map(\.count)
        var dependents = [[Int]](repeating: [], count: needs.count)
        for (position, needed) in needs.enumerated() { for other in needed { dependents[other].append(position) } }
        var order = needs.indices.filter { open[$0] == 0 }
        var next = 0
        while next < order.count {
            for dependent in dependents[order[next]] {
                open[dependent] -= 1
                if open[dependent] == 0 { order.append(dependent) }
            }
            next += 1
        }
        return order
    }

    /// One cycle, a shortest one through its first stage, of each group of stages that wait for each other.
    func cycles() -> [[Int]] {
        groups().filter { $0.count > 1 }.map { group in
            shortestCycle(from: group.min() ?? 0, within: Set(group))
        }
    }

    /// The strongly connected components (Tarjan, 1972), with a stack of its own: documents can be long chains.
    private func groups() -> [[Int]] {
        var search = ComponentSearch(needs: needs)
        for start in needs.indices { search.visit(start) }
        return search.components
    }

    private func shortestCycle(from start: Int, within group: Set<Int>) -> [Int] {
        var cameFrom: [Int: Int] = [:]
        var queue = [start]
        var next = 0
        while next < queue.count {
            let current = queue[next]
            next += 1
            if needs[current].contains(start) { return path(to: current, cameFrom, from: start) }
            for other in needs[current] where group.contains(other) && other != start && cameFrom[other] == nil {
                cameFrom[other] = current
                queue.append(other)
            }
        }
        return [start]
    }

    private func path(to end: Int, _ cameFrom: [Int: Int], from start: Int) -> [Int] {
        var path = [end]
        while let last = path.last, last != start, let previous = cameFrom[last] { path.append(previous) }
        return path.reversed()
    }
}

/// The state of Tarjan's search.
private struct ComponentSearch {
    let needs: [[Int]]
    private(set) var components: [[Int]] = []
    private var numbers: [Int]
    private var lows: [Int]
    private var isOpen: [Bool]
    private var stack: [Int] = []
    private var count = 0

    init(needs: [[Int]]) {
        self.needs = needs
        numbers = Array(repeating: -1, count: needs.count)
        lows = numbers
        isOpen = Array(repeating: false, count: needs.count)
    }

    mutating func visit(_ start: Int) {
        guard numbers[start] < 0 else { return }
        enter(start)
        var calls = [(node: start, next: 0)]
        while let (node, next) = calls.last {
            if next < needs[node].count {
                calls[calls.count - 1].next += 1
                let other = needs[node][next]
                if numbers[other] < 0 {
                    enter(other)
                    calls.append((other, 0))
                } else if isOpen[other] {
                    lows[node] = min(lows[node], numbers[other])
                }
            } else {
                leave(node)
                calls.removeLast()
                if let caller = calls.last?.node { lows[caller] = min(lows[caller], lows[node]) }
            }
        }
    }

    private mutating func enter(_ node: Int) {
        numbers[node] = count
        lows[node] = count
        count += 1
        stack.append(node)
        isOpen[node] = true
    }

    private mutating func leave(_ node: Int) {
        guard lows[node] == numbers[node], let first = stack.lastIndex(of: node) else { return }
        for member in stack[first...] { isOpen[member] = false }
        components.append(Array(stack[first...]))
        stack.removeSubrange(first...)
    }
}
