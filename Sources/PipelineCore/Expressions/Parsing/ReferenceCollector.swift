import JSONPath

/// Gathers what an expression reads, and whether null does harm there.
struct ReferenceCollector {
    let origin: TextOrigin
    private(set) var references: [Reference] = []
    /// True if members of a response's body are asked for, not only the whole.
    private(set) var readsMembersOfBody = false
    /// True if it reads a file whose path reads nothing.
    private(set) var namesFile = false

    init(origin: TextOrigin) { self.origin = origin }

    /// Gathers what a whole expression reads.
    mutating func visit(whole node: ExpressionNode) {
        guard case .path(let root, let accessors) = node.kind else { return visit(node, tolerant: false) }
        add(root, accessors, at: node.range, tolerant: false, isWhole: true)
    }

    /// - Parameter tolerant: whether the node's own value may be null. It reaches through parentheses and the values
    ///   of `? :`, not into arguments, operands and indices.
    private mutating func visit(_ node: ExpressionNode, tolerant: Bool) {
        switch node.kind {
        case .literal: break
        case .path(let root, let accessors): add(root, accessors, at: node.range, tolerant: tolerant)
        case .access(let base, let accessors):
            visit(base, tolerant: false)
            visitIndices(accessors)
        case .not(let operand), .negative(let operand): visit(operand, tolerant: false)
        case .chain(let first, let links): visitChain(first, links, tolerant: tolerant)
        case .conditional(let condition, let first, let second):
            visit(condition, tolerant: false)
            visit(first, tolerant: tolerant)
            visit(second, tolerant: tolerant)
        case .array(let elements): for element in elements { visit(element, tolerant: false) }
        case .object(let members): for member in members { visit(member.value, tolerant: false) }
        case .call(let function, let arguments):
            if function == .partDigest {
                references.append(
                    Reference(root: .part("digest"), range: origin.source(of: node.range), toleratesNull: false))
            }
            let before = references.count
            defer { if function.readsFile, references.count == before { namesFile = true } }
            for argument in arguments {
                guard case .path(let root, let accessors) = argument.kind else {
                    visit(argument, tolerant: false)
                    continue
                }
                add(root, accessors, at: argument.range, tolerant: false, in: function)
            }
        }
    }

    private mutating func visitChain(_ first: ExpressionNode, _ links: [ExpressionNode.Link], tolerant: Bool) {
        let operands = [first] + links.map(\.operand)
        for (index, operand) in operands.enumerated() {
            switch links[0].operation {
            case .coalesce: visit(operand, tolerant: index < links.count || tolerant)
            case .equal, .unequal: visit(operand, comparedWith: operands[1 - index])
            default: visit(operand, tolerant: false)
            }
        }
    }

    private mutating func visit(_ operand: ExpressionNode, comparedWith other: ExpressionNode) {
        guard case .path(let root, let accessors) = operand.kind else {
            return visit(operand, tolerant: other.isNullLiteral)
        }
        let isText = if case .literal(.string) = other.kind { true } else { false }
        add(root, accessors, at: operand.range, tolerant: other.isNullLiteral, isComparedWithText: isText)
    }

    private mutating func visitIndices(_ accessors: [ExpressionNode.Accessor]) {
        for case .computed(let index) in accessors.map(\.kind) { visit(index, tolerant: false) }
    }

    private mutating func add(
        _ root: ExpressionNode.PathRoot, _ accessors: [ExpressionNode.Accessor], at range: SourceRange, tolerant: Bool,
        isWhole: Bool = false, isComparedWithText: Bool = false, in function: ExpressionFunction? = nil
    ) {
        let reference = Reference(
            root: Self.root(root, accessors), range: origin.source(of: range), toleratesNull: tolerant,
            isWhole: isWhole, isComparedWithText: isComparedWithText, function: function, member: accessors.first?.name)
        references.append(reference)
        if root == .response("body"), !accessors.isEmpty { readsMembersOfBody = true }
        visitIndices(accessors)
    }

    static func root(
        _ root: ExpressionNode.PathRoot, _ accessors: [ExpressionNode.Accessor]
    ) -> Reference.Root {
        switch root {
        case .input(let name): .input(name)
        case .environment(let name): .environment(name)
        case .secret(let name): .secret(name)
        case .stage(let id): .capture(stage: id, name: accessors.first?.name)
        case .own where accessors.first?.name == "parts": .ownParts(accessors.dropFirst().first?.name)
        case .own: .own(accessors.first?.name)
        case .ownKey: .ownKey
        case .callbackURL: .callbackURL
        case .item: .item
        case .index: .index
        case .job(let field): .job(field)
        case .response(let field): .response(field)
        case .part(let field): .part(field)
        case .ids: .ids
        }
    }
}
