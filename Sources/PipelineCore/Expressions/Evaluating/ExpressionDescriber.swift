import JSONPath

/// Shows an expression's value before everything that it reads is known, as `plan` prints it.
///
/// Secrets show as `‹secret:NAME›`, also when they are known; what is not known yet shows as the path or call itself,
/// `‹stages.upload.id›`. Text around it stays readable: `'Bearer ' + secrets.TOKEN` shows as `Bearer ‹secret:TOKEN›`.
struct ExpressionDescriber {
    let expression: Expression
    let scope: Scope

    enum Description: Equatable {
        case value(JSON)
        case open(String)

        /// The value, or the text that stands for it.
        var json: JSON {
            switch self {
            case .value(let value): value
            case .open(let text): .string(text)
            }
        }

        var text: String {
            switch self {
            case .value(let value): value.scalarText ?? value.text
            case .open(let text): text
            }
        }
    }

    func description() -> Description { describe(expression.root) }

    private func describe(_ node: ExpressionNode) -> Description {
        if !isOpen(node), let value = try? ExpressionEvaluator(expression: expression, scope: scope).value(of: node) {
            return .value(value)
        }
        switch node.kind {
        case .path(.secret(let name), _): return .open("‹secret:\(name)›")
        case .chain(let first, let links):
            let operands = [first] + links.map(\.operand)
            if links[0].operation == .coalesce { return coalesced(operands) }
            if links.allSatisfy({ $0.operation == .add }), let text = joined(operands) { return .open(text) }
        case .conditional(let condition, let first, let second):
            if case .value(.bool(let flag)) = describe(condition) { return describe(flag ? first : second) }
        case .array(let elements): return .value(.array(elements.map { describe($0).json }))
        case .object(let members):
            return .value(.object(JSONObject(members.map { ($0.name, describe($0.value).json) })))
        default: break
        }
        return .open("‹\(expression.text(of: node.range))›")
    }

    /// The first that is not null is the value; one that is not known yet is taken to have one.
    private func coalesced(_ operands: [ExpressionNode]) -> Description {
        for operand in operands.dropLast() {
            let description = describe(operand)
            if description != .value(.null) { return description }
        }
        return describe(operands[operands.count - 1])
    }

    /// A sum of which a part is known to be text; nil for one that may be of numbers.
    private func joined(_ operands: [ExpressionNode]) -> String? {
        let parts = operands.map(describe)
        let isText = parts.contains { if case .value(.string) = $0 { true } else { false } }
        return isText ? parts.map(\.text).joined() : nil
    }

    /// Returns whether something that it reads is not known yet, or must not be shown.
    private func isOpen(_ node: ExpressionNode) -> Bool {
        switch node.kind {
        case .literal: false
        case .path(let root, let accessors): isOpen(root, accessors) || isOpen(accessors)
        case .access(let base, let accessors): isOpen(base) || isOpen(accessors)
        case .not(let operand), .negative(let operand): isOpen(operand)
        case .chain(let first, let links): isOpen(first) || links.contains { isOpen($0.operand) }
        case .conditional(let test, let first, let second): isOpen(test) || isOpen(first) || isOpen(second)
        case .call(let function, let arguments):
            function == .partDigest && scope.partDigest == nil || arguments.contains { isOpen($0) }
        case .array(let elements): elements.contains { isOpen($0) }
        case .object(let members): members.contains { isOpen($0.value) }
        }
    }

    private func isOpen(_ accessors: [ExpressionNode.Accessor]) -> Bool {
        accessors.contains { if case .computed(let index) = $0.kind { isOpen(index) } else { false } }
    }

    private func isOpen(_ root: ExpressionNode.PathRoot, _ accessors: [ExpressionNode.Accessor]) -> Bool {
        switch root {
        case .input(let name): scope.inputs[name] == nil
        case .environment: false
        case .secret: true
        case .stage(let id): scope.stages[id] == nil
        case .own: accessors.first?.name.map { scope.own[$0] == nil } ?? true
        case .ownKey: scope.ownKey == nil
        case .callbackURL: scope.callbackURL == nil
        case .item: scope.item == nil
        case .index: scope.index == nil
        case .job: scope.job == nil
        case .response: scope.response == nil
        case .part: scope.part == nil
        case .ids: scope.ids == nil
        }
    }
}

extension Expression {
    /// The value as a plan shows it; see ``Template/describe(in:)``.
    public func describe(in scope: Scope) -> String {
        ExpressionDescriber(expression: self, scope: scope).description().text
    }

    /// The value as a plan shows it, with its JSON type where it is known.
    func description(in scope: Scope) -> JSON {
        ExpressionDescriber(expression: self, scope: scope).description().json
    }
}

extension Template {
    /// The text as a plan shows it: secrets as `‹secret:NAME›` even when they are known, values that come later as
    /// `‹stages.upload.id›`. What a partial scope lacks (a stage, a capture, the job) counts as coming later.
    public func describe(in scope: Scope) -> String {
        parts.map { part in
            switch part {
            case .literal(let literal): literal
            case .expression(let expression): expression.describe(in: scope)
            }
        }.joined()
    }
}
