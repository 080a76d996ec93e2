/// Puts stages into an order in which each comes after all that it needs, and finds cycles (Kahn, 1962).
struct StageOrder {
    let drafts: [StageDraft]

    /// The ordered stages; a cycle is reported at the first stage of it, and its stages are left out.
    func sorted(reportingCyclesTo findings: Findings) -> [StageDraft] {
        let ids = Set(drafts.map(\.definition.id))
        var missing = drafts.map { Set($0.needs).intersection(ids) }
        var dependents: [String: [Int]] = [:]
        for (index, needs) in missing.enumerated() { for need in needs { dependents[need, default: []].append(index) } }
        var ready = drafts.indices.filter { missing[$0].isEmpty }
        var position = 0
        while position < ready.count {
            let id = drafts[ready[position]].definition.id
            position += 1
            for index in dependents[id] ?? [] {
                missing[index].remove(id)
                if missing[index].isEmpty { ready.append(index) }
            }
        }
        if ready.count < drafts.count { reportCycle(missing, to: findings) }
        return ready.map { drafts[$0] }
    }

    private func reportCycle(_ missing: [Set<String>], to findings: Findings) {
        let open = drafts.indices.filter { !missing[$0].isEmpty }
        guard let start = open.first else { return }
        var path = [drafts[start].definition.id]
        var current = start
        while let next = missing[current].sorted().first, !path.contains(next),
            let index = open.first(where: { drafts[$0].definition.id == next })
        {
            path.append(next)
            current = index
        }
        if let next = missing[current].sorted().first { path.append(next) }
        findings.report(
            drafts[start].definition.idPlace, "these stages wait for each other: " + path.joined(separator: " needs "),
            hint: "take one of the needs, or one of the references, away")
    }
}
