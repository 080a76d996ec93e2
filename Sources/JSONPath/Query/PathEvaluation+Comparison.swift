/// Comparisons (RFC 9535, section 2.3.5.2.2), with what they cost.
extension PathEvaluation {
    /// Compares two values, nil for Nothing.
    mutating func compare(
        _ left: JSON?, _ comparison: PathComparison, _ right: JSON?
    ) throws(JSONPathEvaluationError) -> Bool {
        switch comparison {
        case .equal: try areEqual(left, right)
        case .notEqual: try !areEqual(left, right)
        case .less: try precedes(left, right)
        case .greater: try precedes(right, left)
        case .lessOrEqual: try precedes(left, right) ? true : try areEqual(left, right)
        case .greaterOrEqual: try precedes(right, left) ? true : try areEqual(left, right)
        }
    }

    private mutating func areEqual(_ left: JSON?, _ right: JSON?) throws(JSONPathEvaluationError) -> Bool {
        guard let left, let right else { return left == nil && right == nil }
        return try areEqual(left, right)
    }

    private mutating func areEqual(_ left: JSON, _ right: JSON) throws(JSONPathEvaluationError) -> Bool {
        try spend(1)
        switch (left, right) {
        case (.array(let left), .array(let right)):
            guard left.count == right.count else { return false }
            for position in left.indices where try !areEqual(left[position], right[position]) { return false }
            return true
        case (.object(let left), .object(let right)):
            guard left.count == right.count else { return false }
            for (name, value) in left.members {
                guard let other = right[name], try areEqual(value, other) else { return false }
            }
            return true
        default:
            try spend(cost(left, right))
            return left == right
        }
    }

    /// Returns whether the left one is less: both numbers, or both strings.
    private mutating func precedes(_ left: JSON?, _ right: JSON?) throws(JSONPathEvaluationError) -> Bool {
        guard let left, let right else { return false }
        try spend(cost(left, right))
        switch (left, right) {
        case (.number(let left), .number(let right)): return left < right
        case (.string(let left), .string(let right)): return left.scalarsPrecede(right)
        default: return false
        }
    }

    /// Returns what looking at two long strings or numbers costs.
    private func cost(_ left: JSON, _ right: JSON) -> Int {
        switch (left, right) {
        case (.string(let left), .string(let right)): min(left.utf8.count, right.utf8.count) / 16
        case (.number(let left), .number(let right)): max(left.literal.utf8.count, right.literal.utf8.count) / 4
        default: 0
        }
    }
}
