import JSONPath

/// One word or sign of an expression, with its place in the expression's text.
struct ExpressionToken: Sendable {
    enum Kind: Sendable, Equatable {
        case name(String)
        case text(String)
        case number(JSONNumber)
        case operation(ExpressionOperator)
        case not, question, colon, comma, dot
        case openParenthesis, closeParenthesis, openBracket, closeBracket, openBrace, closeBrace
        case end
    }

    let kind: Kind
    let range: SourceRange
}
