import JSONPath

/// A stretch of a JSON text that is streamed into a request.
public enum JSONFragment: Sendable, Hashable {
    /// JSON as it stands.
    case text(String)
    /// The values of a file of JSON Lines, to be written as one array with its brackets; an absolute path.
    case jsonLines(String)
}

extension JSONTemplate {
    /// The value as JSON text in which each `${{ jsonLines(path) }}` that stands alone is left to be streamed, so that
    /// a file of any size fits; everything else is evaluated as ``evaluate(in:)`` does.
    public func fragments(in scope: Scope) throws(EvaluationFailure) -> [JSONFragment] {
        var writer = JSONFragmentWriter(scope: scope)
        try writer.write(root)
        return writer.finished()
    }
}

private struct JSONFragmentWriter {
    let scope: Scope
    private var fragments: [JSONFragment] = []
    private var bytes: [UInt8] = []

    init(scope: Scope) { self.scope = scope }

    mutating func write(_ node: JSONTemplate.Node) throws(EvaluationFailure) {
        switch node {
        case .constant(let value): value.write(into: &bytes)
        case .template(let template): try write(template)
        case .array(let elements):
            bytes.append(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                try write(element)
            }
            bytes.append(UInt8(ascii: "]"))
        case .object(let members): try write(members)
        }
    }

    private mutating func write(_ members: [JSONTemplate.Member]) throws(EvaluationFailure) {
        bytes.append(UInt8(ascii: "{"))
        var isFirst = true
        for member in members {
            if member.isOptional, try isNull(member.value) { continue }
            if !isFirst { bytes.append(UInt8(ascii: ",")) }
            isFirst = false
            JSON.string(member.name).write(into: &bytes)
            bytes.append(UInt8(ascii: ":"))
            try write(member.value)
        }
        bytes.append(UInt8(ascii: "}"))
    }

    private func isNull(_ node: JSONTemplate.Node) throws(EvaluationFailure) -> Bool {
        switch node {
        case .constant(let value): return value.isNull
        case .template(let template):
            if template.wholeExpression?.streamedPath != nil { return false }
            return try template.evaluate(in: scope).isNull
        case .array, .object: return false
        }
    }

    private mutating func write(_ template: Template) throws(EvaluationFailure) {
        guard let expression = template.wholeExpression, let argument = expression.streamedPath else {
            try template.evaluate(in: scope).write(into: &bytes)
            return
        }
        let evaluator = ExpressionEvaluator(expression: expression, scope: scope)
        let path = try FunctionCall(evaluator: evaluator, function: .jsonLines, nodes: [argument]).path()
        flush()
        fragments.append(.jsonLines(path))
    }

    private mutating func flush() {
        guard !bytes.isEmpty else { return }
        fragments.append(.text(String(decoding: bytes, as: UTF8.self)))
        bytes = []
    }

    mutating func finished() -> [JSONFragment] {
        flush()
        return fragments
    }
}

extension Expression {
    /// The argument of a `jsonLines(…)` that is the whole expression.
    var streamedPath: ExpressionNode? {
        if case .call(.jsonLines, let arguments) = root.kind { arguments[0] } else { nil }
    }
}
