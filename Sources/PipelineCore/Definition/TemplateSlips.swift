import JSONPath

/// Warns of expressions where they are plain text: in names of members, and in other tools' ways to write them, `{{ x }}`,
/// `${x}` and `$x`.
///
/// The latter may be meant as text, of a shell or of a template that a service fills in: so only what begins with a name
/// that means something here is told, and a string that is nothing else.
struct TemplateSlips {
    /// The whole document.
    let root: SourceLocation
    let findings: DiagnosticCollector
    /// The names of the document's inputs.
    let inputs: [String]

    private static let roots = Set(ExpressionParser.roots)
    /// Members whose strings are never templates.
    private static let plainKeys = ["$schema", "description", "name", "pattern", "enum"]

    /// Looks through all strings of the document.
    func check() { check(root.node) }

    private func check(_ node: JSONNode) {
        switch node.content {
        case .null, .bool, .number: break
        case .string(let text): check(text, at: node)
        case .array(let elements): for element in elements { check(element) }
        case .object(let members):
            for member in members {
                if TemplateReader.hasExpression(member.name) { warn(of: member) }
                if !Self.plainKeys.contains(member.name), !member.name.hasPrefix("x-") { check(member.value) }
            }
        }
    }

    private func warn(of member: JSONNode.Member) {
        findings.warn(
            range: member.nameRange, pointer: root.descendant(at: member.nameRange.start).pointer,
            "an expression in a name is not evaluated: names are no templates",
            hint: "in \"json\" an expression can make the whole object: "
                + "${{ parse('{' + json(NAME) + ':' + json(VALUE) + '}') }}"
        )
    }

    private func check(_ text: String, at node: JSONNode) {
        guard text.utf8.contains(where: { $0 == UInt8(ascii: "$") || $0 == UInt8(ascii: "{") }) else { return }
        let bytes = Array(text.utf8)
        var position = 0
        while let start = bytes[position...].firstIndex(where: { $0 == UInt8(ascii: "$") || $0 == UInt8(ascii: "{") }) {
            let rest = bytes[start...]
            if rest.starts(with: "$${{".utf8) || rest.starts(with: "${{".utf8) {
                position = Self.end(of: "}}", in: rest) ?? bytes.count
                continue
            }
            position = start + 1
            guard let slip = slip(in: rest), !Self.declares(slip.content, text),
                isMeant(slip.content, isAll: slip.length == bytes.count)
            else { continue }
            position = start + slip.length
            let range = SourceRange(start: start, end: position)
            let name = Self.name(in: slip.content)
            let meant = inputs.contains(name) && !Self.roots.contains(name) ? "inputs.\(slip.content)" : slip.content
            findings.warn(
                range: TextOrigin(literal: node.range, in: findings.source).source(of: range),
                pointer: root.descendant(at: node.range.start).pointer,
                "\"\(String(decoding: bytes[start..<position], as: UTF8.self))\" is plain text here, not an expression",
                hint: "an expression is written ${{ \(meant) }}")
        }
    }

    private func isMeant(_ content: String, isAll: Bool) -> Bool {
        let name = Self.name(in: content)
        guard !name.isEmpty else { return false }
        return isAll || Self.roots.contains(name) || inputs.contains(name)
            || ExpressionFunction(rawValue: name) != nil && content.hasPrefix("\(name)(")
    }

    /// Returns what a text begins with that other tools take for an expression, and how long that is.
    private func slip(in text: ArraySlice<UInt8>) -> (content: String, length: Int)? {
        for (opener, closer) in [("{{", "}}"), ("${", "}")] where text.starts(with: opener.utf8) {
            guard let end = Self.end(of: closer, in: text) else { return nil }
            let inner = text[(text.startIndex + opener.utf8.count)..<(end - closer.utf8.count)]
            return (Self.trimmed(inner), end - text.startIndex)
        }
        guard text.first == UInt8(ascii: "$") else { return nil }
        let path = text.dropFirst().prefix { Self.isPathPart($0) }
        let content = String(decoding: path, as: UTF8.self)
        let name = Self.name(in: content)
        // A selector begins with a dollar, too, and names no root after it; nor is an input's value looked into.
        let isPath = Self.roots.contains(name) && content.dropFirst(name.count).first == "."
        let isInput = inputs.contains(content) && text.dropFirst(path.count + 1).first != UInt8(ascii: "[")
        return isPath || isInput ? (content, path.count + 1) : nil
    }

    /// Returns whether a text is a GraphQL document that declares a variable of that name (its specification, section 2.10).
    private static func declares(_ name: String, _ text: String) -> Bool {
        ["query", "mutation", "subscription"].contains {
            text.utf8.drop(while: TemplateReader.isSpace).starts(with: $0.utf8)
        }
            && text.contains("$\(name):")
    }

    private static func isPathPart(_ byte: UInt8) -> Bool {
        ExpressionLexer.isNamePart(byte) || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "-")
    }

    /// The name that an expression begins with; empty when it begins with none.
    private static func name(in content: String) -> String {
        guard let first = content.utf8.first, !(48...57).contains(first) else { return "" }
        return String(decoding: content.utf8.prefix { ExpressionLexer.isNamePart($0) }, as: UTF8.self)
    }

    private static func trimmed(_ bytes: ArraySlice<UInt8>) -> String {
        let start = bytes.drop { TemplateReader.isSpace($0) }
        let end = start.lastIndex { !TemplateReader.isSpace($0) }.map { $0 + 1 } ?? start.startIndex
        return String(decoding: start[..<end], as: UTF8.self)
    }

    /// The index after the first occurrence.
    private static func end(of mark: String, in bytes: ArraySlice<UInt8>) -> Int? {
        let wanted = Array(mark.utf8)
        return bytes.indices.first { bytes[$0...].starts(with: wanted) }.map { $0 + wanted.count }
    }
}
