extension JSONPathQuery {
    /// The steps that an evaluation may take unless told otherwise: a few seconds' work.
    ///
    /// A step is a node that is visited, a character that a regular expression looks at, or a value compared; a node of
    /// the result counts as several.
    public static let standardBudget = 50_000_000

    /// The nodes that the query selects, in the order of RFC 9535; the same node may stand there several times.
    /// - Parameters:
    ///   - limit: ends after so many nodes. The rest isn't even looked for.
    ///   - budget: the work that may be spent, so that no query can hang the process (`$..*..*..*`).
    public func nodes(
        in document: JSON, limit: Int = .max, budget: Int = standardBudget
    ) throws(JSONPathEvaluationError) -> [JSON] {
        var nodes: [JSON] = []
        try visit(document, limit: limit, budget: budget) { value, _ in
            nodes.append(value)
            return 4
        }
        return nodes
    }

    /// The nodes with their places.
    public func locatedNodes(
        in document: JSON, limit: Int = .max, budget: Int = standardBudget
    ) throws(JSONPathEvaluationError) -> [(path: NormalizedPath, value: JSON)] {
        var nodes: [(path: NormalizedPath, value: JSON)] = []
        try visit(document, limit: limit, budget: budget) { value, cursor in
            let path = cursor.path
            nodes.append((path, value))
            return 8 + 4 * path.elements.count
        }
        return nodes
    }

    /// Gives each node to a closure that says how many more steps it costs.
    private func visit(
        _ document: JSON, limit: Int, budget: Int, _ body: (JSON, borrowing NodeCursor) -> Int
    ) throws(JSONPathEvaluationError) {
        var evaluation = PathEvaluation(root: document, budget: budget)
        var cursor = NodeCursor(segments, from: document)
        var count = 0
        while count < limit, let node = try cursor.next(&evaluation) {
            count += 1
            try evaluation.spend(body(node, cursor))
        }
    }
}
