import CLibrary
import PipelineCore

/// A pattern of paths: `*`, `?` and `[…]` inside a name (fnmatch(3)), `{a,b}`, and `**` for any number of folders, none too.
///
/// Hidden names are matched only by a pattern that says the dot; folders never are. `DIR/` means `DIR/*`.
package struct FilePattern: Sendable, Equatable {
    /// The alternatives of its braces, each as names between slashes.
    private let alternatives: [[String]]
    private let isAbsolute: Bool
    /// The folders before the first name with a wildcard: item keys are paths below it.
    package let fixedPart: String

    /// - Throws: ``ItemSourceError`` for unbalanced braces.
    package init(_ text: String) throws(ItemSourceError) {
        isAbsolute = text.utf8.first == UInt8(ascii: "/")
        let whole = text.utf8.last == UInt8(ascii: "/") ? text + "*" : text
        alternatives = try Self.expanded(whole).map { $0.split(separator: "/").map(String.init).filter { $0 != "." } }
        let names = whole.split(separator: "/").map(String.init).filter { $0 != "." }
        let fixed = names.prefix { !Self.isWild($0) && !$0.utf8.contains(UInt8(ascii: "{")) }
        let folders = fixed.count == names.count ? fixed.dropLast() : fixed
        fixedPart = (isAbsolute ? "/" : "") + folders.map { $0 + "/" }.joined()
    }

    /// True if a path that was found is the same text: then a missing file is a mistake rather than no match.
    package var isPlain: Bool { alternatives.count == 1 && alternatives[0].allSatisfy { !Self.isWild($0) } }

    /// True if the text names a folder.
    package func isFolder(in folder: String) -> Bool {
        guard isPlain else { return false }
        let path = (isAbsolute ? "/" : folder + "/") + alternatives[0].joined(separator: "/")
        return Self.isFolder(Self.bytes(of: path), followingLinks: true)
    }

    /// Returns the pattern that only this path matches: each wildcard and brace stands for itself.
    static func literal(_ path: String) -> String {
        path.unicodeScalars.map { (letter: Unicode.Scalar) -> String in
            "*?[{}".unicodeScalars.contains(letter) ? "[\(letter)]" : "\(letter)"
        }.joined()
    }

    private static func isWild(_ name: String) -> Bool { name.utf8.contains { [0x2A, 0x3F, 0x5B].contains($0) } }

    private static func expanded(_ text: String) throws(ItemSourceError) -> [String] {
        let bytes = Array(text.unicodeScalars)
        func string(_ scalars: ArraySlice<Unicode.Scalar>) -> String { String(String.UnicodeScalarView(scalars)) }
        /// Returns whether a brace stands for itself: it is alone in brackets.
        func isLetter(_ index: Int) -> Bool {
            index > 0 && bytes[index - 1] == "[" && index + 1 < bytes.count && bytes[index + 1] == "]"
        }
        guard let start = bytes.indices.first(where: { bytes[$0] == "{" && !isLetter($0) }) else {
            guard !bytes.indices.contains(where: { bytes[$0] == "}" && !isLetter($0) }) else {
                throw ItemSourceError("the pattern '\(text)' has a } without a {", hint: "write [}] for the letter")
            }
            return [text]
        }
        var (depth, pieces, last) = (0, [String](), start + 1)
        for index in start..<bytes.count {
            switch bytes[index] {
            case "{" where !isLetter(index): depth += 1
            case "}" where !isLetter(index): depth -= 1
            case "," where depth == 1:
                pieces.append(string(bytes[last..<index]))
                last = index + 1
            default: break
            }
            guard depth == 0 else { continue }
            pieces.append(string(bytes[last..<index]))
            let (head, tail) = (string(bytes[..<start]), string(bytes[(index + 1)...]))
            var result: [String] = []
            for piece in pieces { result += try expanded(head + piece + tail) }
            return result
        }
        throw ItemSourceError("the pattern '\(text)' has a { without its }", hint: "write [{] for the letter")
    }

    /// The files that match, in the order of their bytes, below a folder for a relative pattern; each once. A link that leads
    /// nowhere is one too: what reads it says so.
    package func files(in folder: String) -> [Match] {
        var found: Set<Match> = []
        for names in alternatives {
            walk(names[...], at: isAbsolute ? [Self.slash] : [], Self.bytes(of: folder), &found)
        }
        return found.sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }
    }

    /// Returns whether a file with an absolute path would be found below a folder, there or not yet.
    package func finds(_ path: String, in folder: String) -> Bool {
        let names = path.split(separator: "/").map(String.init)
        let start = isAbsolute ? [] : folder.split(separator: "/").map { Self.literal(String($0)) }
        return alternatives.contains { Self.matches(names[...], (start + $0)[...]) }
    }

    private static func matches(_ names: ArraySlice<String>, _ patterns: ArraySlice<String>) -> Bool {
        guard let pattern = patterns.first else { return names.isEmpty }
        if pattern == "**" {
            let rest = patterns.count == 1 ? ["*"] : patterns.dropFirst()
            let folders = names.prefix { $0.utf8.first != UInt8(ascii: ".") }.count
            return (0...folders).contains { matches(names.dropFirst($0), rest) }
        }
        guard let name = names.first, matches(bytes(of: name), pattern) else { return false }
        return matches(names.dropFirst(), patterns.dropFirst())
    }

    /// The files in a folder without the hidden ones, whatever characters its path has.
    package static func files(of folder: String) -> [Match] {
        let place = bytes(of: folder.utf8.last == UInt8(ascii: "/") ? folder : folder + "/")
        return entries(of: place).filter { $0.first != dot && isFile(place + $0) }.map { Match(place + $0) }
            .sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }
    }

    /// A path that was found, told apart by its bytes: two names may look alike.
    package struct Match: Hashable {
        private let text: String
        /// True if the path is text, as the values of inputs are.
        let isText: Bool

        fileprivate init(_ path: [CChar]) {
            let whole = FilePattern.text(of: path)
            isText = whole != nil
            text =
                whole
                ?? path.split(separator: FilePattern.slash, omittingEmptySubsequences: false)
                .map { FilePattern.text(of: Array($0)) ?? FilePattern.escaped(Array($0)) }.joined(separator: "/")
        }

        /// The path; of one that is no text with `\xNN` for each byte that is none.
        package var path: String { text }
        package var bytes: String.UTF8View { text.utf8 }

        package static func == (left: Match, right: Match) -> Bool { left.bytes.elementsEqual(right.bytes) }

        package func hash(into hasher: inout Hasher) { for byte in bytes { hasher.combine(byte) } }
    }

    // Paths are bytes on the way, as the system has them: a folder whose name is no text may hold what matches.
    private func walk(_ names: ArraySlice<String>, at path: [CChar], _ folder: [CChar], _ found: inout Set<Match>) {
        guard let name = names.first else { return }
        let rest = names.dropFirst()
        func place(_ path: [CChar]) -> [CChar] { path.first == Self.slash ? path : folder + [Self.slash] + path }
        if name == "**" {
            // Also no folder at all: `**/x` finds `x`.
            walk(rest.isEmpty ? ["*"] : rest, at: path, folder, &found)
            for entry in Self.entries(of: place(path)) where entry.first != Self.dot {
                if Self.isFolder(place(path + entry), followingLinks: false) {
                    walk(names, at: path + entry + [Self.slash], folder, &found)
                }
            }
            return
        }
        guard Self.isWild(name) else { return step(to: Self.bytes(of: name)) }
        for entry in Self.entries(of: place(path)) where Self.matches(entry, name) { step(to: entry) }

        func step(to entry: [CChar]) {
            let next = path + entry
            if rest.isEmpty {
                if Self.isFile(place(next)) { found.insert(Match(next)) }
            } else if Self.isFolder(place(next), followingLinks: true) {
                walk(rest, at: next + [Self.slash], folder, &found)
            }
        }
    }

    private static let slash = CChar(bitPattern: UInt8(ascii: "/"))
    private static let dot = CChar(bitPattern: UInt8(ascii: "."))

    private static func bytes(of text: String) -> [CChar] { text.utf8.map { CChar(bitPattern: $0) } }

    /// The text that a path or a name is in UTF-8; nil for one that is none.
    private static func text(of path: [CChar]) -> String? {
        String(validating: path.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Returns whether a name matches; of one that is no text each byte is a letter.
    private static func matches(_ name: [CChar], _ pattern: String) -> Bool {
        func isMatch() -> Bool { fnmatch(pattern, name + [0], FNM_PERIOD) == 0 }
        return text(of: name) == nil ? isMatch() : NameLocale.shared.within(isMatch)
    }

    /// A name that is no text, with `\xNN` for each byte beyond ASCII.
    private static func escaped(_ name: [CChar]) -> String {
        name.map { byte in
            byte >= 0x20 ? String(Unicode.Scalar(UInt8(byte))) : "\\x" + [UInt8(bitPattern: byte)].hex
        }.joined()
    }

    private static func isFile(_ path: [CChar]) -> Bool {
        var status = stat()
        let path = path + [0]
        return (stat(path, &status) == 0 || lstat(path, &status) == 0) && status.st_mode & S_IFMT != S_IFDIR
    }

    private static func isFolder(_ path: [CChar], followingLinks: Bool) -> Bool {
        var status = stat()
        let path = path + [0]
        return (followingLinks ? stat(path, &status) : lstat(path, &status)) == 0
            && status.st_mode & S_IFMT == S_IFDIR
    }

    /// The names in a folder, without its own and that of the one above.
    private static func entries(of folder: [CChar]) -> [[CChar]] {
        guard let stream = opendir(folder + [0]) else { return [] }
        defer { closedir(stream) }
        var names: [[CChar]] = []
        while let entry = readdir(stream) {
            withUnsafePointer(to: &entry.pointee.d_name) { name in
                name.withMemoryRebound(to: CChar.self, capacity: 1) { name in
                    names.append(Array(UnsafeBufferPointer(start: name, count: strlen(name))))
                }
            }
        }
        return names.filter { $0 != [dot] && $0 != [dot, dot] }
    }
}

/// A source that can't be read: told to a person, with what to do about it.
package struct ItemSourceError: Error, Sendable, Equatable {
    package let message: String
    package let hint: String?

    package init(_ message: String, hint: String? = nil) {
        self.message = message
        self.hint = hint
    }
}
