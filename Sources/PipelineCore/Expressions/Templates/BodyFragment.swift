package import JSONPath

/// A stretch of a body's text, of which files are streamed into the request.
package enum BodyFragment: Sendable, Hashable {
    /// Text as it stands.
    case text(String)
    /// The values of a file of JSON Lines, to be written as one array with its brackets; an absolute path, and where
    /// the document says so.
    case jsonLines(String, at: SourceRange)
    /// The bytes of a file in base64, without quotes; an absolute path, and where the document says so.
    case base64(String, at: SourceRange)
}

extension JSONTemplate {
    /// The value as JSON text in which each `jsonLines(path)` and `fileBase64(path)` that stands alone in its `${{ }}` is
    /// left to be streamed, so that a file of any size fits; everything else is evaluated as ``evaluate(in:)`` does.
    package func fragments(in scope: Scope) throws(EvaluationFailure) -> [BodyFragment] {
        var writer = BodyFragmentWriter(scope: scope)
        try writer.write(root)
        return writer.finished()
    }
}

extension Template {
    /// The text in which each `fileBase64(path)` that stands alone in its `${{ }}` is left to be streamed; everything
    /// else is evaluated as ``evaluateText(in:)`` does.
    package func fragments(in scope: Scope) throws(EvaluationFailure) -> [BodyFragment] {
        var writer = BodyFragmentWriter(scope: scope)
        try writer.writeText(of: self) { $1.append(contentsOf: $0.utf8) }
        return writer.finished()
    }
}

private struct BodyFragmentWriter {
    let scope: Scope
    private var fragments: [BodyFragment] = []
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
            if try template.wholeExpression?.streamed(in: scope) != nil { return false }
            return try template.evaluate(in: scope).isNull
        case .array, .object: return false
        }
    }

    private mutating func write(_ template: Template) throws(EvaluationFailure) {
        if let expression = template.wholeExpression {
            guard let streamed = try expression.streamed(in: scope) else {
                try expression.evaluate(in: scope).write(into: &bytes)
                return
            }
            if case .jsonLines = streamed { return append(streamed) }
        }
        bytes.append(UInt8(ascii: "\""))
        try writeText(of: template) { text, bytes in
            var quoted: [UInt8] = []
            JSON.string(text).write(into: &quoted)
            bytes += quoted.dropFirst().dropLast()
        }
        bytes.append(UInt8(ascii: "\""))
    }

    /// Writes a text whose files are left to be streamed; `escape` appends text in the form in which it stands there.
    mutating func writeText(
        of template: Template, escape: (String, inout [UInt8]) -> Void
    ) throws(EvaluationFailure) {
        for part in template.parts {
            switch part {
            case .literal(let text): escape(text, &bytes)
            case .expression(let expression):
                if case .base64(let path, let place)? = try expression.streamed(in: scope) {
                    append(.base64(path, at: place))
                } else {
                    escape(try expression.evaluateText(in: scope), &bytes)
                }
            }
        }
    }

    private mutating func append(_ fragment: BodyFragment) {
        flush()
        fragments.append(fragment)
    }

    private mutating func flush() {
        guard !bytes.isEmpty else { return }
        fragments.append(.text(String(decoding: bytes, as: UTF8.self)))
        bytes = []
    }

    mutating func finished() -> [BodyFragment] {
        flush()
        return fragments
    }
}

extension Expression {
    /// The file that the expression puts in, when its value is that of a function that streams and nothing else, also
    /// behind a condition.
    fileprivate func streamed(in scope: Scope) throws(EvaluationFailure) -> BodyFragment? {
        let evaluator = ExpressionEvaluator(expression: self, scope: scope)
        var node = root
        while case .conditional(let test, let first, let second) = node.kind {
            node = try evaluator.condition(test) ? first : second
        }
        guard case .call(let function, let arguments) = node.kind else { return nil }
        let place = origin.source(of: node.range)
        let call = FunctionCall(evaluator: evaluator, function: function, nodes: arguments)
        switch function {
        case .jsonLines: return .jsonLines(try call.path(), at: place)
        case .fileBase64: return .base64(try call.path(), at: place)
        default: return nil
        }
    }
}
