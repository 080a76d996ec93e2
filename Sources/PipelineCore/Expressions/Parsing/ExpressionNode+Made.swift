extension ExpressionNode {
    /// What the value is made of by functions, indices and sums: something of it stands there as it was not written. What is
    /// only compared, counted or asked for is not in the value; what is handed on is itself.
    ///
    /// - Parameter isChanged: whether something is made of the value.
    func ingredients(isChanged: Bool = false) -> [Reference.Root] {
        switch kind {
        case .literal, .not, .negative: []
        case .path(let root, let accessors):
            isChanged || root.isInput && !accessors.isEmpty ? [ReferenceCollector.root(root, accessors)] : []
        case .access(let base, _): base.ingredients(isChanged: true)
        case .chain(let first, let links):
            switch links[0].operation {
            case .add, .coalesce:
                ([first] + links.map(\.operand)).flatMap {
                    $0.ingredients(isChanged: isChanged || links[0].operation == .add)
                }
            default: []
            }
        case .conditional(_, let first, let second):
            first.ingredients(isChanged: isChanged) + second.ingredients(isChanged: isChanged)
        case .call(let function, let arguments):
            function.readsFile || function.measures ? [] : arguments.flatMap { $0.ingredients(isChanged: true) }
        case .array(let elements): elements.flatMap { $0.ingredients(isChanged: isChanged) }
        case .object(let members): members.flatMap { $0.value.ingredients(isChanged: isChanged) }
        }
    }
}

extension ExpressionNode.PathRoot {
    fileprivate var isInput: Bool { if case .input = self { true } else { false } }
}
