import Foundation

/// Which folders of a target name types that are declared in which others.
///
/// Read from the text: a type is what is declared at the beginning of a line, and a word with a capital letter that
/// follows no dot names it. A name that two folders declare says nothing.
struct FolderGraph {
    /// A file of a target, without its comments and literals.
    fileprivate struct Source {
        let folder: String
        let declared: Set<String>
        let named: Set<String>
    }

    /// For each folder those that it needs, each with the types that it names there.
    private var needs: [String: [String: Set<String>]] = [:]

    init(of folder: URL) throws {
        let paths = try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".swift") }
        let sources = try paths.map { path in
            let text = try String(contentsOf: folder.appendingPathComponent(path), encoding: .utf8)
            let top = path.contains("/") ? String(path.prefix { $0 != "/" }) : "."
            return Source(text: Array(text.utf8), folder: top)
        }
        var homes: [String: Set<String>] = [:]
        for source in sources { for name in source.declared { homes[name, default: []].insert(source.folder) } }
        for source in sources {
            for name in source.named {
                guard let home = homes[name], home.count == 1, let other = home.first, other != source.folder else {
                    continue
                }
                needs[source.folder, default: [:]][other, default: []].insert(name)
            }
        }
    }

    /// A line for each step of a way that leads from a folder back to it; none where there is no such way.
    var cycle: [String] {
        for start in needs.keys.sorted() {
            var ways = [start: [start]]
            var open = [start]
            while let folder = open.popLast() {
                for other in (needs[folder] ?? [:]).keys.sorted() {
                    let way = ways[folder, default: []] + [other]
                    if other == start { return zip(way, way.dropFirst()).map(step) }
                    if ways.updateValue(way, forKey: other) == nil { open.append(other) }
                }
            }
        }
        return []
    }

    private func step(from folder: String, to other: String) -> String {
        "\(folder) names \((needs[folder]?[other] ?? []).sorted().joined(separator: ", ")) of \(other)"
    }
}

extension FolderGraph.Source {
    init(text: [UInt8], folder: String) {
        self.folder = folder
        var declared: Set<String> = []
        var named: Set<String> = []
        for line in Self.code(text).split(separator: UInt8(ascii: "\n")) {
            var words: [String] = []
            var isPrivate = false
            var index = line.startIndex
            while index < line.endIndex {
                guard Self.isLetter(line[index]) else {
                    index += 1
                    continue
                }
                let start = index
                while index < line.endIndex, Self.isLetter(line[index]) || (48...57).contains(line[index]) {
                    index += 1
                }
                let word = String(decoding: line[start..<index], as: UTF8.self)
                if let last = words.last, Self.keywords.contains(last), !isPrivate, Self.beginsDeclaration(words) {
                    declared.insert(word)
                }
                isPrivate = isPrivate || word == "private" || word == "fileprivate"
                let isMember = start > line.startIndex && line[start - 1] == UInt8(ascii: ".")
                if (65...90).contains(line[start]), !isMember { named.insert(word) }
                // Only the beginning of a line that is not indented declares a type for the whole target.
                if Self.isLetter(line[line.startIndex]) || line[line.startIndex] == UInt8(ascii: "@") {
                    words.append(word)
                }
            }
        }
        self.declared = declared
        self.named = named
    }

    private static let keywords: Set = ["struct", "class", "enum", "protocol", "actor", "typealias"]
    private static let modifiers: Set = ["public", "package", "internal", "final", "indirect", "nonisolated"]

    private static func beginsDeclaration(_ words: [String]) -> Bool {
        words.dropLast().allSatisfy { modifiers.contains($0) }
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (65...90).contains(byte) || (97...122).contains(byte) || byte == UInt8(ascii: "_")
    }

    /// The text without comments and the contents of literals.
    private static func code(_ text: [UInt8]) -> [UInt8] {
        var code: [UInt8] = []
        var index = 0
        func has(_ mark: String) -> Bool { text[index...].starts(with: mark.utf8) }
        func skip(to mark: String) {
            while index < text.count, !has(mark) { index += text[index] == UInt8(ascii: "\\") ? 2 : 1 }
            index = min(text.count, index + mark.utf8.count)
        }
        while index < text.count {
            if has("//") {
                while index < text.count, text[index] != UInt8(ascii: "\n") { index += 1 }
            } else if has("/*") {
                skip(to: "*/")
            } else if has("\"\"\"") {
                index += 3
                skip(to: "\"\"\"")
            } else if has("\"") {
                index += 1
                skip(to: "\"")
            } else {
                code.append(text[index])
                index += 1
            }
        }
        return code
    }
}
