import JSONPath

/// Puts stages into an order in which each comes after all that it needs, and tells of those for which there is none.
struct StageOrder {
    private let drafts: [StageDraft]
    private let graph: StageGraph
    /// Places of references that are mistakes of their own: nothing follows from them.
    private let broken: Set<SourceRange>

    init(drafts: [StageDraft], broken: Set<SourceRange>) {
        self.drafts = drafts
        self.broken = broken
        let positions = Dictionary(
            drafts.enumerated().map { ($1.definition.id, $0) }, uniquingKeysWith: { first, _ in first })
        graph = StageGraph(
            needs: drafts.enumerated().map { position, draft in
                draft.needs(without: broken).compactMap { positions[$0] }.filter { $0 != position }
            })
    }

    /// The ordered stages; without those of a cycle, which is reported.
    func sorted(reportingCyclesTo findings: DiagnosticCollector) -> [StageDraft] {
        let order = graph.ordered()
        if order.count < drafts.count { for cycle in graph.cycles() { report(cycle, to: findings) } }
        return order.map { drafts[$0] }
    }

    private func report(_ cycle: [Int], to findings: DiagnosticCollector) {
        let edges = cycle.enumerated().map { index, position in
            edge(from: drafts[position], to: drafts[cycle[(index + 1) % cycle.count]].definition.id)
        }
        let names = cycle.prefix(6).map { "'\(drafts[$0].definition.id)'" }
        let more = cycle.count > names.count ? " and \(cycle.count - names.count) more" : ""
        let list = cycle.count == 2 ? names.joined(separator: " and ") : names.joined(separator: ", ") + more
        let shown = edges.prefix(6).map(\.reason).joined(separator: "; ")
        let place = edges.first { !$0.isByPosition } ?? edges[0]
        let advice =
            edges.first(where: \.isByPosition).map {
                "give '\($0.id)' \"needs\": [] if it need not wait, or move it up"
            }
            ?? "take one of these away"
        findings.report(
            range: place.range, pointer: place.pointer, "the stages \(list) wait for each other, so none can start",
            hint: "\(shown); \(advice)")
    }

    /// The reason why one stage waits for another.
    private struct Edge {
        let id: String
        let reason: String
        let range: SourceRange
        let pointer: String
        var isByPosition = false
    }

    private func edge(from draft: StageDraft, to id: String) -> Edge {
        let own = draft.definition.id
        if let use = draft.uses.first(where: { $0.sourceStage == id && !broken.contains($0.reference.range) }) {
            let name =
                if case .capture(_, let name?) = use.reference.root { "stages.\(id).\(name)" } else { "stages.\(id)" }
            return Edge(
                id: own, reason: "'\(own)' reads \(name)", range: use.reference.range, pointer: use.place.pointer)
        }
        if let place = draft.options?.needs?.first(where: { $0.text == id }) {
            return Edge(
                id: own, reason: "'\(own)' needs '\(id)'", range: place.node.range, pointer: place.pointer)
        }
        let place = draft.definition.idPlace
        return Edge(
            id: own, reason: "'\(own)' waits for '\(id)', which stands before it", range: place.node.range,
            pointer: place.pointer, isByPosition: true)
    }
}
