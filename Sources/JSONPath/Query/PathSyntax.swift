/// One step of a query: what it selects of each node that came so far (RFC 9535, section 2.5).
struct PathSegment: Sendable {
    /// True if it also applies to all descendants: `..`.
    let isDescendant: Bool
    let selectors: [PathSelector]

    /// True if it gives at most one node for each it is given.
    var isSingular: Bool {
        guard !isDescendant, selectors.count == 1 else { return false }
        switch selectors[0] {
        case .name, .index: return true
        case .wildcard, .slice, .filter: return false
        }
    }
}

/// The content of the brackets (RFC 9535, section 2.3).
enum PathSelector: Sendable {
    case name(String)
    case wildcard
    /// Negative ones count from the end.
    case index(Int)
    case slice(PathSlice)
    case filter(PathCondition)
}

/// `start:end:step` (RFC 9535, section 2.3.4).
struct PathSlice: Sendable {
    var start: Int?
    var end: Int?
    var step = 1

    /// The first index and how many there are, `step` apart, in an array of that length.
    func indices(in length: Int) -> (first: Int, count: Int) {
        guard step != 0, length > 0 else { return (0, 0) }
        let start = normalized(start ?? (step > 0 ? 0 : length - 1), length)
        let end = normalized(end ?? (step > 0 ? length : -length - 1), length)
        if step > 0 {
            let lower = min(max(start, 0), length)
            let upper = min(max(end, 0), length)
            return (lower, upper > lower ? (upper - lower - 1) / step + 1 : 0)
        }
        let upper = min(max(start, -1), length - 1)
        let lower = min(max(end, -1), length - 1)
        return (upper, upper > lower ? (upper - lower - 1) / -step + 1 : 0)
    }

    private func normalized(_ index: Int, _ length: Int) -> Int { index >= 0 ? index : length + index }
}

/// A query inside a filter.
struct EmbeddedQuery: Sendable {
    /// True if it begins at the current node (`@`), not at the root.
    let isRelative: Bool
    let segments: [PathSegment]

    var isSingular: Bool { segments.allSatisfy(\.isSingular) }
}

/// The condition that a filter tests: a value of RFC 9535's LogicalType (section 2.3.5).
indirect enum PathCondition: Sendable {
    case any([PathCondition])
    case all([PathCondition])
    case not(PathCondition)
    case exists(EmbeddedQuery)
    case comparison(PathOperand, PathComparison, PathOperand)
    /// `match` when it is about the whole text, else `search`.
    case matches(PathOperand, PathRegex, isWhole: Bool)
}

/// The second argument of `match` and `search`.
enum PathRegex: Sendable {
    /// A literal, compiled with the query; nil when it isn't I-Regexp and so never matches.
    case literal(LinearRegex?)
    /// Known with the document only.
    case computed(PathOperand)
}

enum PathComparison: Sendable {
    case equal, notEqual, less, lessOrEqual, greater, greaterOrEqual
}

/// A thing that can be compared or given to a function: a value of RFC 9535's ValueType, or Nothing.
indirect enum PathOperand: Sendable {
    case literal(JSON)
    /// A singular query.
    case query(EmbeddedQuery)
    case length(PathOperand)
    case count(EmbeddedQuery)
    case value(EmbeddedQuery)
}
