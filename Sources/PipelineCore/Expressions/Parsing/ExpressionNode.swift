import JSONPath

/// One node of a parsed expression; its depth is bounded by the parser, so recursion over it is safe.
struct ExpressionNode: Sendable {
    /// Offsets of UTF-8 bytes in the expression's text.
    let range: SourceRange
    let kind: Kind

    indirect enum Kind: Sendable {
        case literal(JSON)
        case path(PathRoot, [Accessor])
        /// Members of a computed value: `parse(x).name`.
        case access(ExpressionNode, [Accessor])
        case not(ExpressionNode)
        case negative(ExpressionNode)
        /// Operators of one precedence in a row. Kept flat, so that a long sum is no deep tree.
        case chain(ExpressionNode, [Link])
        case conditional(ExpressionNode, ExpressionNode, ExpressionNode)
        case call(ExpressionFunction, [ExpressionNode])
        /// `[a, b]`
        case array([ExpressionNode])
        /// `{ 'name': a }`
        case object([Member])
    }

    struct Member: Sendable {
        let name: String
        let value: ExpressionNode
    }

    struct Link: Sendable {
        let operation: ExpressionOperator
        let operatorRange: SourceRange
        let operand: ExpressionNode
    }

    struct Accessor: Sendable {
        let range: SourceRange
        let kind: Kind

        enum Kind: Sendable {
            case member(String)
            case computed(ExpressionNode)
        }

        var asksOutside: Bool { if case .computed(let index) = kind { index.asksOutside } else { false } }

        /// The member's name when it is written in the expression.
        var name: String? {
            if case .member(let name) = kind { name } else { nil }
        }
    }

    /// The root at which a path starts; the names that must be written out are part of it.
    enum PathRoot: Sendable, Hashable {
        case input(String)
        case environment(String)
        case secret(String)
        case stage(String)
        case own, ownKey, callbackURL
        case item, index
        case job(String)
        case response(String)
        case part(String)
        case ids

        /// True for what is kept of services' answers, where secrets that they repeat are sealed.
        var isCaptured: Bool {
            switch self {
            case .stage, .own, .item: true
            case .input, .environment, .secret, .ownKey, .callbackURL, .index, .job, .response, .part, .ids: false
            }
        }
    }

    /// True if a function in it needs a file, the time or chance.
    var asksOutside: Bool {
        switch kind {
        case .literal: false
        case .path(_, let accessors): accessors.contains(where: \.asksOutside)
        case .access(let base, let accessors): base.asksOutside || accessors.contains(where: \.asksOutside)
        case .not(let operand), .negative(let operand): operand.asksOutside
        case .chain(let first, let links): first.asksOutside || links.contains { $0.operand.asksOutside }
        case .conditional(let condition, let first, let second):
            condition.asksOutside || first.asksOutside || second.asksOutside
        case .call(let function, let arguments):
            function.asksOutside || arguments.contains(where: \.asksOutside)
        case .array(let elements): elements.contains(where: \.asksOutside)
        case .object(let members): members.contains { $0.value.asksOutside }
        }
    }

    /// True if this is the literal `null`.
    var isNullLiteral: Bool {
        if case .literal(.null) = kind { true } else { false }
    }
}
