/// One evaluation of a query: the root that `$` in filters means, and what may still be spent.
struct PathEvaluation {
    let root: JSON
    private let budget: Int
    private var remaining: Int
    /// Regular expressions from the document, compiled once; nil for those that aren't I-Regexp.
    /// The keys are UTF-8: strings as keys would take canonically equivalent ones for the same.
    private var expressions: [[UInt8]: LinearRegex?] = [:]

    /// More expressions than this aren't kept.
    private static let mostExpressions = 64

    init(root: JSON, budget: Int) {
        self.root = root
        self.budget = budget
        remaining = budget
    }

    @inline(__always)
    mutating func spend(_ steps: Int) throws(JSONPathEvaluationError) {
        remaining -= steps
        if remaining < 0 { throw .evaluationTooLarge(budget: budget) }
    }

    /// Returns whether a condition holds for a node (RFC 9535, section 2.3.5.2).
    mutating func holds(_ condition: PathCondition, for node: JSON) throws(JSONPathEvaluationError) -> Bool {
        try spend(1)
        switch condition {
        case .any(let parts):
            for part in parts where try holds(part, for: node) { return true }
            return false
        case .all(let parts):
            for part in parts where try !holds(part, for: node) { return false }
            return true
        case .not(let part): return try !holds(part, for: node)
        case .exists(let query): return try first(of: query, for: node) != nil
        case .comparison(let left, let comparison, let right):
            let first = try value(of: left, for: node)
            let second = try value(of: right, for: node)
            return try compare(first, comparison, second)
        case .matches(let text, let regex, let isWhole): return try matches(text, regex, isWhole: isWhole, for: node)
        }
    }

    /// The value of an operand; nil for Nothing.
    private mutating func value(of operand: PathOperand, for node: JSON) throws(JSONPathEvaluationError) -> JSON? {
        switch operand {
        case .literal(let value): return value
        case .query(let query): return try first(of: query, for: node)
        case .length(let operand): return try length(of: try value(of: operand, for: node))
        case .count(let query): return .number(JSONNumber(try count(of: query, for: node)))
        case .value(let query):
            var cursor = cursor(query, for: node)
            let first = try cursor.next(&self)
            return try cursor.next(&self) == nil ? first : nil
        }
    }

    private func cursor(_ query: EmbeddedQuery, for node: JSON) -> NodeCursor {
        NodeCursor(query.segments, from: query.isRelative ? node : root)
    }

    /// The first node of a query: of a singular one without making a cursor.
    private mutating func first(of query: EmbeddedQuery, for node: JSON) throws(JSONPathEvaluationError) -> JSON? {
        var value = query.isRelative ? node : root
        for segment in query.segments {
            guard segment.isSingular else {
                var cursor = cursor(query, for: node)
                return try cursor.next(&self)
            }
            try spend(1)
            switch (segment.selectors[0], value) {
            case (.name(let name), .object(let object)):
                guard let member = object[name] else { return nil }
                value = member
            case (.index(let index), .array(let elements)):
                let index = index < 0 ? elements.count + index : index
                guard elements.indices.contains(index) else { return nil }
                value = elements[index]
            default: return nil
            }
        }
        return value
    }

    private mutating func count(of query: EmbeddedQuery, for node: JSON) throws(JSONPathEvaluationError) -> Int {
        var cursor = cursor(query, for: node)
        var count = 0
        while try cursor.next(&self) != nil { count += 1 }
        return count
    }

    /// The function `length` (RFC 9535, section 2.4.4): scalars of a string, elements, members; else Nothing.
    private mutating func length(of value: JSON?) throws(JSONPathEvaluationError) -> JSON? {
        switch value {
        case .string(let text):
            try spend(text.utf8.count / 16)
            return .number(JSONNumber(text.unicodeScalars.count))
        case .array(let elements): return .number(JSONNumber(elements.count))
        case .object(let members): return .number(JSONNumber(members.count))
        default: return nil
        }
    }

    /// The functions `match` and `search` (RFC 9535, sections 2.4.6 and 2.4.7): false unless both are strings.
    private mutating func matches(
        _ operand: PathOperand, _ regex: PathRegex, isWhole: Bool, for node: JSON
    ) throws(JSONPathEvaluationError) -> Bool {
        guard case .string(let text) = try value(of: operand, for: node) else { return false }
        guard let expression = try expression(regex, for: node) else { return false }
        switch expression.run(on: text, isWhole ? .whole : .search, budget: &remaining) {
        case .match: return true
        case .noMatch: return false
        case .exhausted: throw .evaluationTooLarge(budget: budget)
        }
    }

    private mutating func expression(
        _ regex: PathRegex, for node: JSON
    ) throws(JSONPathEvaluationError) -> LinearRegex? {
        switch regex {
        case .literal(let expression): return expression
        case .computed(let operand):
            guard case .string(let pattern) = try value(of: operand, for: node) else { return nil }
            let key = Array(pattern.utf8)
            if let known = expressions[key] { return known }
            try spend(100 + 20 * pattern.utf8.count)
            let expression = try compile(pattern)
            if expressions.count < Self.mostExpressions { expressions[key] = .some(expression) }
            return expression
        }
    }

    private func compile(_ pattern: String) throws(JSONPathEvaluationError) -> LinearRegex? {
        do {
            return try LinearRegex(interoperable: pattern)
        } catch {
            if error == .tooLarge { throw .patternTooLarge }
            return nil
        }
    }
}
