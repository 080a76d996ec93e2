/// The operators between two operands, and how tightly they bind.
///
/// From the tightest: `* /`, `+ -`, `??`, the comparisons (which do not chain), `&&`, `||`, and then `? :`. That is
/// Swift's order: `inputs.count ?? 0 > 5` compares, `env.A ?? 'http://' + env.B` has the sum as its default.
enum ExpressionOperator: String, Sendable, CaseIterable {
    case multiply = "*"
    case divide = "/"
    case add = "+"
    case subtract = "-"
    case coalesce = "??"
    case equal = "=="
    case unequal = "!="
    case less = "<"
    case lessOrEqual = "<="
    case greater = ">"
    case greaterOrEqual = ">="
    case and = "&&"
    case or = "||"

    /// Higher binds tighter.
    var precedence: Int {
        switch self {
        case .or: 0
        case .and: 1
        case .equal, .unequal, .less, .lessOrEqual, .greater, .greaterOrEqual: Self.comparison
        case .coalesce: 3
        case .add, .subtract: 4
        case .multiply, .divide: 5
        }
    }

    static let comparison = 2
}
