import JSONPath

extension ExpressionEvaluator {
    /// The number of names that are shown.
    private static let mostShown = 8

    /// The advice about a path that gave null: the members of the object that lacks the next one, and a default.
    func advice(onNull node: ExpressionNode, fallback: String) -> String {
        let rescue = "give a default: \(expression.text(of: node.range)) ?? \(fallback)"
        return others(of: node).map { "\($0); or \(rescue)" } ?? rescue
    }

    /// The words on the members of the first object on a path that has not the one asked for; nil without such an object.
    private func others(of node: ExpressionNode) -> String? {
        guard case .path(let root, let accessors) = node.kind else { return nil }
        for (place, accessor) in accessors.enumerated() {
            // A stage's captures are named by the document, and have been looked at with it.
            if place == 0, case .stage = root { continue }
            let before = ExpressionNode(range: node.range, kind: .path(root, Array(accessors.prefix(place))))
            guard let name = accessor.name, case .object(let object)? = try? value(of: before) else { continue }
            guard object[name] == nil, !object.isEmpty else { continue }
            let names = object.map(\.name).sorted().map { JSON.string(String($0.prefix(40))).text }
            let shown = names.prefix(Self.mostShown).joined(separator: ", ")
            let text = expression.text(of: SourceRange(start: node.range.start, end: accessor.range.start))
            return "\(text) has \(shown)\(names.count > Self.mostShown ? ", …" : "")"
        }
        return nil
    }
}
