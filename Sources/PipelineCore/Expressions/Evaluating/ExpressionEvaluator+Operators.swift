import JSONPath

extension ExpressionEvaluator {
    func chain(
        _ first: ExpressionNode, _ links: [ExpressionNode.Link], tolerant: Bool
    ) throws(EvaluationFailure) -> JSON {
        switch links[0].operation {
        case .coalesce: return try coalesced([first] + links.map(\.operand), tolerant: tolerant)
        case .and: return .bool(try decided([first] + links.map(\.operand), by: false))
        case .or: return .bool(try decided([first] + links.map(\.operand), by: true))
        case .equal, .unequal: return .bool(try compared(first, links[0]))
        case .less, .lessOrEqual, .greater, .greaterOrEqual: return .bool(try ordered(first, links[0]))
        case .add, .subtract, .multiply, .divide: return try computed(first, links)
        }
    }

    private func coalesced(_ operands: [ExpressionNode], tolerant: Bool) throws(EvaluationFailure) -> JSON {
        for operand in operands.dropLast() {
            let value = try value(of: operand, tolerant: true)
            if !value.isNull { return value }
        }
        return try value(of: operands[operands.count - 1], tolerant: tolerant)
    }

    /// `&&` is decided by the first false, `||` by the first true; what follows is not evaluated.
    private func decided(_ operands: [ExpressionNode], by decisive: Bool) throws(EvaluationFailure) -> Bool {
        for operand in operands where try condition(operand) == decisive { return decisive }
        return !decisive
    }

    private func compared(_ left: ExpressionNode, _ link: ExpressionNode.Link) throws(EvaluationFailure) -> Bool {
        let first = try value(of: left, tolerant: link.operand.isNullLiteral)
        let second = try value(of: link.operand, tolerant: left.isNullLiteral)
        return (first == second) == (link.operation == .equal)
    }

    private func ordered(_ left: ExpressionNode, _ link: ExpressionNode.Link) throws(EvaluationFailure) -> Bool {
        let first = try value(of: left)
        let second = try value(of: link.operand)
        let isLess: Bool
        let isGreater: Bool
        switch (first, second) {
        case (.number(let first), .number(let second)): (isLess, isGreater) = (first < second, second < first)
        case (.string(let first), .string(let second)):
            // By Unicode scalars, so that the order depends on no locale.
            isLess = first.utf8.lexicographicallyPrecedes(second.utf8)
            isGreater = second.utf8.lexicographicallyPrecedes(first.utf8)
        default: throw unordered(left, first, link, second)
        }
        switch link.operation {
        case .less: return isLess
        case .lessOrEqual: return !isGreater
        case .greater: return isGreater
        default: return !isLess
        }
    }

    private func unordered(
        _ left: ExpressionNode, _ first: JSON, _ link: ExpressionNode.Link, _ second: JSON
    ) -> EvaluationFailure {
        for (node, value) in [(left, first), (link.operand, second)] where value.number == nil && value.string == nil {
            let other = node.range == left.range ? second : first
            let needed = other.string == nil ? "a number" : "a text"
            return mismatch(node, value, needed: needed, fallback: other.string == nil ? "0" : "''")
        }
        let text = first.string == nil ? link.operand : left
        return wrong(
            "\"\(link.operation.rawValue)\" cannot compare a number with a string",
            hint: "number(\(expression.text(of: text.range))) makes it a number", at: link.operatorRange)
    }
}

// MARK: - Arithmetic

extension ExpressionEvaluator {
    /// A number that arithmetic can keep exactly, or nearly, as doubles do.
    private enum Quantity {
        case whole(Int)
        case real(Double)

        var real: Double {
            switch self {
            case .whole(let number): Double(number)
            case .real(let number): number
            }
        }

        var json: JSON {
            switch self {
            case .whole(let number): .number(JSONNumber(number))
            case .real(let number): .number(JSONNumber(number))
            }
        }
    }

    func negated(_ node: ExpressionNode) throws(EvaluationFailure) -> JSON {
        let quantity = try quantity(try value(of: node), node)
        return try combined(.whole(0), quantity, .subtract, at: node.range).json
    }

    private func computed(_ first: ExpressionNode, _ links: [ExpressionNode.Link]) throws(EvaluationFailure) -> JSON {
        let start = try value(of: first)
        if case .string(let text) = start, links[0].operation == .add { return try joined(text, first, links) }
        var total = try quantity(start, first, beside: links[0])
        for link in links {
            let operand = try quantity(try value(of: link.operand), link.operand, beside: link)
            total = try combined(total, operand, link.operation, at: link.operatorRange)
        }
        return total.json
    }

    private func joined(
        _ start: String, _ first: ExpressionNode, _ links: [ExpressionNode.Link]
    ) throws(EvaluationFailure) -> JSON {
        var text = start
        for link in links {
            let value = try value(of: link.operand)
            guard link.operation == .add else {
                throw wrong(
                    "\"\(link.operation.rawValue)\" works on numbers, and a text stands left of it",
                    at: link.operatorRange)
            }
            guard case .string(let part) = value else {
                let shown = expression.text(of: link.operand.range)
                throw mismatch(
                    link.operand, value, needed: "a text", fallback: "''",
                    hint: value.isNull ? nil : "string(\(shown)) makes it a text")
            }
            try checkSize(
                text.utf8.count + part.utf8.count,
                at: SourceRange(start: first.range.start, end: link.operand.range.end))
            text += part
        }
        return .string(text)
    }

    private func quantity(
        _ value: JSON, _ node: ExpressionNode, beside link: ExpressionNode.Link? = nil
    ) throws(EvaluationFailure) -> Quantity {
        guard case .number(let number) = value else {
            let shown = expression.text(of: node.range)
            let joins = link?.operation == .add ? "; to join texts, make the others texts too with string(…)" : ""
            throw mismatch(
                node, value, needed: "a number", fallback: "0",
                hint: value.string.map { _ in "number(\(shown)) makes it a number\(joins)" })
        }
        if let whole = number.int { return .whole(whole) }
        let real = number.double
        let isWhole = number.literal.allSatisfy { $0 == "-" || ("0"..."9").contains($0) }
        guard real.isFinite, !isWhole else {
            throw wrong(
                "\(expression.text(of: node.range)) is too large to compute with",
                hint: "whole numbers go up to \(Int.max)",
                at: node.range)
        }
        return .real(real)
    }

    private func combined(
        _ left: Quantity, _ right: Quantity, _ operation: ExpressionOperator, at range: SourceRange
    ) throws(EvaluationFailure) -> Quantity {
        if operation == .divide, right.real == 0 { throw wrong("a division by zero", at: range) }
        if case .whole(let first) = left, case .whole(let second) = right,
            let exact = try whole(first, second, operation, at: range)
        {
            return .whole(exact)
        }
        let result: Double =
            switch operation {
            case .add: left.real + right.real
            case .subtract: left.real - right.real
            case .multiply: left.real * right.real
            default: left.real / right.real
            }
        guard result.isFinite else { throw wrong("the result of \"\(operation.rawValue)\" is too large", at: range) }
        return .real(result)
    }

    /// The exact result; nil for a division that leaves a remainder.
    private func whole(
        _ left: Int, _ right: Int, _ operation: ExpressionOperator, at range: SourceRange
    ) throws(EvaluationFailure) -> Int? {
        let (result, overflow) =
            switch operation {
            case .add: left.addingReportingOverflow(right)
            case .subtract: left.subtractingReportingOverflow(right)
            case .multiply: left.multipliedReportingOverflow(by: right)
            default: left.dividedReportingOverflow(by: right)
            }
        guard !overflow else {
            throw wrong(
                "the result of \"\(operation.rawValue)\" is too large", hint: "whole numbers go up to \(Int.max)",
                at: range)
        }
        if operation == .divide, !left.isMultiple(of: right) { return nil }
        return result
    }
}
