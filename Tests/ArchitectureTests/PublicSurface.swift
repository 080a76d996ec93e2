import Foundation

/// What a library of the package lets programs of others see, read from its sources.
///
/// Read by the indentation that `swift format` keeps: a declaration stands one level further in than its type.
struct PublicSurface {
    struct Declaration {
        /// The type that it stands in, with those around it; empty at the top.
        let owner: String
        /// The declaration on one line, without its body and its value.
        let signature: String
        /// Its name, for a function without the parameters.
        let name: String
        /// The first line of its documentation; nil when it has none.
        let summary: String?
        let isRequirement: Bool
        let place: String
    }

    private(set) var declarations: [Declaration] = []

    init(of target: String) throws {
        for file in try SourceTree.files(of: target) { read(file) }
    }

    /// A line for each declaration, in an order that does not depend on files.
    var lines: [String] {
        declarations.map { $0.owner.isEmpty ? $0.signature : "\($0.owner): \($0.signature)" }.sorted()
    }

    private struct Owner {
        let indent: Int
        let path: String
        /// Whether all that stands in it is public without saying so: requirements and cases.
        let opensMembers: Bool
        let isProtocol: Bool
    }

    private mutating func read(_ file: SourceTree.File) {
        var owners: [Owner] = []
        var isInText = false
        for (number, line) in file.code.enumerated() {
            defer {
                if line.contains("\"\"\""), line.components(separatedBy: "\"\"\"").count.isMultiple(of: 2) {
                    isInText.toggle()
                }
            }
            if isInText { continue }
            let indent = line.prefix { $0 == " " }.count
            let text = line.dropFirst(indent)
            while let last = owners.last, !text.isEmpty, indent < last.indent || indent == last.indent && text == "}" {
                owners.removeLast()
            }
            guard indent == (owners.last.map { $0.indent + 4 } ?? 0), !text.hasPrefix("//"), !text.hasPrefix("@") else {
                continue
            }
            let words = text.split(separator: " ").map(String.init)
            let isPublic = words.prefix { $0 != "{" && !$0.contains("(") }.contains("public")
            let isMember = owners.last?.opensMembers == true && Self.isMember(words, of: owners.last)
            if (isPublic || isMember) && !words.contains("import") {
                let signature = Self.signature(from: number, in: file.code)
                declarations.append(
                    Declaration(
                        owner: owners.last?.path ?? "", signature: signature, name: Self.name(signature),
                        summary: Self.summary(number, in: file.code),
                        isRequirement: owners.last?.isProtocol == true, place: "\(file.path):\(number + 1)"))
            }
            if let owner = Self.owner(words, indent: indent, isPublic: isPublic, inside: owners.last),
                !line.hasSuffix("}")
            {
                owners.append(owner)
            }
        }
    }

    private static let typeWords: Set = ["struct", "class", "actor", "enum", "protocol", "extension"]

    private static func owner(_ words: [String], indent: Int, isPublic: Bool, inside outer: Owner?) -> Owner? {
        guard let index = words.firstIndex(where: typeWords.contains), index + 1 < words.count,
            words[..<index].allSatisfy({ $0.first?.isLowercase == true })
        else { return nil }
        let name = String(words[index + 1].prefix { $0.isLetter || $0.isNumber || "_.[]".contains($0) })
        return Owner(
            indent: indent, path: outer.map { "\($0.path).\(name)" } ?? name,
            opensMembers: isPublic && (words[index] == "protocol" || words[index] == "enum"),
            isProtocol: isPublic && words[index] == "protocol")
    }

    private static func isMember(_ words: [String], of owner: Owner?) -> Bool {
        guard let first = words.first(where: { $0 != "mutating" && $0 != "static" && $0 != "indirect" }) else {
            return false
        }
        if owner?.isProtocol == false { return first == "case" }
        return ["var", "associatedtype", "subscript"].contains(first) || first.hasPrefix("func")
            || first.hasPrefix("init")
    }

    /// The declaration that begins at a line, without its body.
    private static func signature(from number: Int, in code: [String]) -> String {
        var joined = ""
        var depth = 0
        for line in code[number...].prefix(30) {
            let text = line.trimmingCharacters(in: .whitespaces)
            if depth == 0, !joined.isEmpty, !text.hasPrefix("where "), !text.hasPrefix("->") { break }
            joined += (joined.isEmpty || joined.hasSuffix("(") || text.hasPrefix(")") ? "" : " ") + text
            depth += text.reduce(0) { $0 + ("([".contains($1) ? 1 : ")]".contains($1) ? -1 : 0) }
            if depth == 0, text.hasSuffix("{") { break }
        }
        let end = endOfHead(joined)
        return joined[..<end].trimmingCharacters(in: .whitespaces).replacingOccurrences(of: "public ", with: "")
    }

    /// Where the body or the value of a declaration begins.
    private static func endOfHead(_ text: String) -> String.Index {
        var depth = 0
        for index in text.indices {
            let rest = text[index...]
            if "([".contains(text[index]) { depth += 1 }
            if ")]".contains(text[index]) { depth -= 1 }
            guard depth == 0 else { continue }
            if rest.hasPrefix(" = "), !text.hasPrefix("case "), !text.contains("typealias ") { return index }
            // What a requirement promises stands in braces without others; a body has more.
            let isPromise = rest.hasPrefix(" { get") && rest.hasSuffix("}") && !rest.dropFirst(2).contains("{")
            if rest.hasPrefix(" {"), !isPromise { return index }
        }
        return text.endIndex
    }

    private static func name(_ signature: String) -> String {
        let kinds: Set = [
            "func", "var", "let", "case", "typealias", "associatedtype", "struct", "class", "actor", "enum", "protocol",
        ]
        let words = signature.split(separator: " ")
        if let index = words.firstIndex(where: { kinds.contains(String($0)) }), index + 1 < words.count {
            let name = words[index + 1].prefix { $0.isLetter || $0.isNumber || $0 == "_" }
            return name.isEmpty ? String(words[index + 1].prefix { $0 != "(" }) : String(name)
        }
        return words.contains { $0.hasPrefix("init") } ? "init" : signature
    }

    private static func summary(_ number: Int, in code: [String]) -> String? {
        func text(_ line: Int) -> String { line < 0 ? "" : code[line].trimmingCharacters(in: .whitespaces) }
        var above = number - 1
        while text(above).hasPrefix("@") { above -= 1 }
        guard text(above).hasPrefix("///") else { return nil }
        while text(above - 1).hasPrefix("///") { above -= 1 }
        return text(above).dropFirst(3).trimmingCharacters(in: .whitespaces)
    }
}
