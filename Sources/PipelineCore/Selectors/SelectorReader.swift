import JSONPath

/// Reads selectors in all their forms and gathers the mistakes.
struct SelectorReader {
    /// The values of these are references by their definition.
    private static let locations = ["location", "content-location", "operation-location", "azure-asyncoperation"]
    private static let keys = ["select", "optional", "all", "url", "secret"]
    private static let forms =
        "a selector is \"$.name\" (JSONPath), \"/name\" (JSON Pointer), \"header:Name\", \"status\", \"url\", \"text\", "
        + "\"regex:…\" or \"xml:/A/B\""
    private static let paths =
        "a JSONPath looks like \"$.name\", \"$.list[0].id\" or \"$.list[?@.state == 'done'].id\""

    let source: SourceText?
    private(set) var errors: [SelectorError] = []
    private var warnings: [SelectorError] = []

    init(source: SourceText?) { self.source = source }

    mutating func selector(_ node: JSONNode) -> Selector? {
        var isSecret = false
        let alternatives = alternatives(node, &isSecret, inList: false)
        guard errors.isEmpty, !alternatives.isEmpty else { return nil }
        let text = alternatives.map(\.text).joined(separator: " or ")
        return Selector(text: text, alternatives: alternatives, isSecret: isSecret, warnings: warnings)
    }

    private mutating func alternatives(
        _ node: JSONNode, _ isSecret: inout Bool, inList: Bool
    ) -> [Selector.Alternative] {
        switch node.content {
        case .string(let text): return alternative(text, at: node.range).map { [$0] } ?? []
        case .array(let entries) where !inList:
            if entries.isEmpty { fail("this list of selectors is empty", Self.forms, at: node.range) }
            var all: [Selector.Alternative] = []
            for entry in entries { all += alternatives(entry, &isSecret, inList: true) }
            return all
        case .object(let members): return object(members, node.range, &isSecret, inList: inList)
        default:
            fail("a selector cannot be \(node.json.kindName)", Self.forms, at: node.range)
            return []
        }
    }

    private mutating func object(
        _ members: [JSONNode.Member], _ range: SourceRange, _ isSecret: inout Bool, inList: Bool
    ) -> [Selector.Alternative] {
        var selected: [Selector.Alternative]?
        var flags: [String: Bool] = [:]
        for member in members where !member.isIgnored {
            if member.name == "select" {
                selected = alternatives(member.value, &isSecret, inList: inList)
            } else if let flag = flag(member) {
                flags[member.name] = flag
            }
        }
        guard let selected else {
            fail("\"select\" is missing", "write { \"select\": \"$.name\", … }", at: range)
            return []
        }
        if flags["secret"] == true { isSecret = true }
        return selected.map { alternative in
            var alternative = alternative
            alternative.isOptional = flags["optional"] ?? alternative.isOptional
            alternative.takesAll = flags["all"] ?? alternative.takesAll
            alternative.isURL = flags["url"] ?? alternative.isURL
            return alternative
        }
    }

    private mutating func flag(_ member: JSONNode.Member) -> Bool? {
        guard Self.keys.contains(member.name) else {
            let hint = Suggestion.hint(for: member.name, among: Self.keys)
            fail(
                "a selector has no key \"\(member.name)\"", hint ?? "its keys are \(Self.keys.joined(separator: ", "))",
                at: member.nameRange)
            return nil
        }
        if case .bool(let flag) = member.value.content { return flag }
        fail("\"\(member.name)\" must be true or false", "write \"\(member.name)\": true", at: member.value.range)
        return nil
    }

    private mutating func fail(_ message: String, _ hint: String, at range: SourceRange) {
        errors.append(SelectorError(message, hint: hint, range: range))
    }
}

// MARK: - Strings

extension SelectorReader {
    private mutating func alternative(_ text: String, at range: SourceRange) -> Selector.Alternative? {
        let origin = TextOrigin(literal: range, in: source)
        do throws(SelectorError) {
            if TemplateReader.hasExpression(text) { throw unknown(text, origin) }
            if text.hasPrefix("$") { return try path(text, origin) }
            if text.hasPrefix("header:") { return try header(text, origin) }
            return Selector.Alternative(text: text, source: try plain(text, origin))
        } catch {
            errors.append(error)
            return nil
        }
    }

    private func plain(_ text: String, _ origin: TextOrigin) throws(SelectorError) -> SelectorSource {
        switch text {
        case "status": return .status
        case "url": return .url
        case "text": return .text
        default: break
        }
        if text.hasPrefix("/") { return .pointer(try pointer(text, origin)) }
        if text.hasPrefix("regex:") { return .pattern(try pattern(text, origin)) }
        guard text.hasPrefix("xml:") else { throw unknown(text, origin) }
        guard let path = XMLPath(String(text.dropFirst(4))) else {
            let (bare, isOptional, takesAll) = Self.withoutSuffixes(text)
            let flags = [isOptional ? "\"optional\": true" : nil, takesAll ? "\"all\": true" : nil].compactMap(\.self)
            throw mistake(
                "\"\(text.dropFirst(4))\" is no way to an element",
                flags.isEmpty
                    ? "write the names from the root: xml:/Result/ETag"
                    : "? and [] are for $ and header: alone; write { \"select\": \"\(bare)\", "
                        + flags.joined(separator: ", ") + " }", text, origin)
        }
        return .xml(path)
    }

    private mutating func path(_ text: String, _ origin: TextOrigin) throws(SelectorError) -> Selector.Alternative {
        let (bare, isOptional, takesAll) = Self.withoutSuffixes(text)
        let afterItems = bare.dropFirst("$items".count).first
        let isItems = bare.hasPrefix("$items") && (afterItems == nil || afterItems == "[" || afterItems == ".")
        do throws(JSONPathError) {
            let query = try JSONPathQuery(parsing: bare, root: isItems ? "$items" : "$")
            for warning in query.warnings { warnings.append(located(warning, text, origin)) }
            return Selector.Alternative(
                text: bare, source: isItems ? .items(query) : .query(query), isOptional: isOptional, takesAll: takesAll)
        } catch {
            let mistake = located(error, text, origin)
            throw SelectorError(mistake.message, hint: mistake.hint ?? Self.paths, range: mistake.range)
        }
    }

    private func located(_ error: JSONPathError, _ text: String, _ origin: TextOrigin) -> SelectorError {
        let end = min(error.offset + 1, text.utf8.count)
        let range = SourceRange(start: min(error.offset, text.utf8.count), end: end)
        return SelectorError(error.message, hint: error.hint, range: origin.source(of: range))
    }

    private func header(_ text: String, _ origin: TextOrigin) throws(SelectorError) -> Selector.Alternative {
        let (bare, isOptional, takesAll) = Self.withoutSuffixes(text)
        let name = String(bare.dropFirst("header:".count))
        let isToken = name.utf8.allSatisfy { byte in
            ExpressionLexer.isNamePart(byte) || "!#$%&'*+-.^`|~".utf8.contains(byte)
        }
        guard !name.isEmpty, isToken else {
            throw mistake("\"\(name)\" is no name of a header", "write it as in header:Location", text, origin)
        }
        return Selector.Alternative(
            text: bare, source: .header(name), isOptional: isOptional, takesAll: takesAll,
            isURL: Self.locations.contains(name.lowercased()))
    }

    private func pointer(_ text: String, _ origin: TextOrigin) throws(SelectorError) -> JSONPointer {
        do throws(JSONPointerError) {
            return try JSONPointer(text)
        } catch {
            let range = SourceRange(start: error.offset, end: min(error.offset + 1, text.utf8.count))
            throw SelectorError(error.message, hint: error.hint, range: origin.source(of: range))
        }
    }

    private func pattern(_ text: String, _ origin: TextOrigin) throws(SelectorError) -> LinearRegex {
        let prefix = "regex:".utf8.count
        do throws(LinearRegexError) {
            return try LinearRegex(String(text.dropFirst(prefix)))
        } catch {
            let start = min(prefix + error.offset, text.utf8.count)
            let range = SourceRange(start: start, end: min(start + 1, text.utf8.count))
            throw SelectorError(error.message, hint: error.hint, range: origin.source(of: range))
        }
    }

    private func mistake(
        _ message: String, _ hint: String?, _ text: String, _ origin: TextOrigin
    ) -> SelectorError {
        SelectorError(message, hint: hint, range: origin.source(of: SourceRange(start: 0, end: text.utf8.count)))
    }

    private func unknown(_ text: String, _ origin: TextOrigin) -> SelectorError {
        let prefix = text.prefix { $0 != ":" }
        let isPrefixed = prefix.count < text.count
        let near = Suggestion.nearest(
            to: String(prefix), among: isPrefixed ? ["header", "regex", "xml"] : ["status", "url", "text"])
        let rest = text.dropFirst(prefix.count)
        let isName = !text.isEmpty && text.utf8.allSatisfy { ExpressionLexer.isNamePart($0) || $0 == UInt8(ascii: ".") }
        let hint: String =
            if TemplateReader.hasExpression(text) {
                "selectors hold no expressions; \(Self.forms)"
            } else if let meant = Self.meant(text) {
                "did you mean \"\(meant)\"? \(Self.capitalizedForms)"
            } else if let near, !isPrefixed, isName, near != text.lowercased() {
                "did you mean \"$.\(text)\", a member of a JSON body, or \"\(near)\"?"
            } else if let near {
                "did you mean \"\(near)\(rest)\"?"
            } else if isName, !text.hasPrefix(".") { "did you mean \"$.\(text)\"? \(Self.capitalizedForms)" } else {
                Self.forms
            }
        return mistake("\"\(text)\" is no selector", hint, text, origin)
    }

    /// Returns what a way through `response` as in expressions, or a path without its `$`, means.
    private static func meant(_ text: String) -> String? {
        var rest = Substring(text)
        if rest.hasPrefix("response.") { rest = rest.dropFirst("response.".count) }
        for prefix in ["headers.", "header."] where rest.hasPrefix(prefix) {
            return "header:\(rest.dropFirst(prefix.count))"
        }
        if rest.hasPrefix("body.") { return "$.\(rest.dropFirst("body.".count))" }
        return text.hasPrefix(".") || text.hasPrefix("[") ? "$\(text)" : nil
    }

    private static var capitalizedForms: String { "A" + forms.dropFirst() }

    /// `?` and `[]` at the end, in any order, each once; neither can end a query or a header's name.
    private static func withoutSuffixes(_ text: String) -> (bare: String, isOptional: Bool, takesAll: Bool) {
        var bare = Substring(text)
        var (isOptional, takesAll) = (false, false)
        while true {
            if !isOptional, bare.hasSuffix("?") {
                isOptional = true
                bare = bare.dropLast()
            } else if !takesAll, bare.hasSuffix("[]") {
                takesAll = true
                bare = bare.dropLast(2)
            } else {
                return (String(bare), isOptional, takesAll)
            }
        }
    }
}
