import JSONPath

/// The bounds on what an expression builds: calls inside of calls could make any size of a few bytes.
enum ExpressionBounds {
    /// The most bytes of a text: 64 MiB.
    static let mostBytes = 64 << 20
    /// The most elements of an array that is made of a text.
    static let mostElements = 1 << 20
}

extension ExpressionEvaluator {
    /// Fails when a text of that many bytes is about to be built, or was; nil is more than can be counted.
    func checkSize(_ bytes: Int?, at range: SourceRange) throws(EvaluationFailure) {
        if let bytes, bytes <= ExpressionBounds.mostBytes { return }
        throw wrong(
            "\(expression.text(of: range)) makes a text of more than "
                + SizeText.exact(Int64(ExpressionBounds.mostBytes)),
            hint: "a file is sent or written as it is, of any size, with \"file\" or \"to\"", at: range)
    }

    /// Fails when an array of more elements than the bound is about to be built.
    func checkCount(_ count: Int, at range: SourceRange) throws(EvaluationFailure) {
        guard count > ExpressionBounds.mostElements else { return }
        throw wrong(
            "\(expression.text(of: range)) makes an array of more than \(ExpressionBounds.mostElements) elements",
            hint: "jsonLines(…) reads items from a file", at: range)
    }

    /// The value of a call, unless it is a text beyond the bound.
    func bounded(_ value: JSON, at range: SourceRange) throws(EvaluationFailure) -> JSON {
        if case .string(let text) = value { try checkSize(text.utf8.count, at: range) }
        return value
    }
}
