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
        isAbsolute = text.utf8.first == Self.slash
        let whole = text.utf8.last == Self.slash ? text + "*" : text
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
        return Self.isFolder(path, followingLinks: true)
    }

    private static let slash = UInt8(ascii: "/")

    private static func isWild(_ name: String) -> Bool { name.utf8.contains { [0x2A, 0x3F, 0x5B].contains($0) } }

    private static func expanded(_ text: String) throws(ItemSourceError) -> [String] {
        let bytes = Array(text.unicodeScalars)
        func string(_ scalars: ArraySlice<Unicode.Scalar>) -> String { String(String.UnicodeScalarView(scalars)) }
        guard let start = bytes.firstIndex(of: "{") else {
            guard !bytes.contains("}") else {
                throw ItemSourceError("the pattern '\(text)' has a } without a {", hint: "write [}] for the letter")
            }
            return [text]
        }
        var (depth, pieces, last) = (0, [String](), start + 1)
        for index in start..<bytes.count {
            switch bytes[index] {
            case "{": depth += 1
            case "}": depth -= 1
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
        for names in alternatives { walk(names[...], at: isAbsolute ? "/" : "", folder, &found) }
        return found.sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }
    }

    /// A path that was found, told apart by its bytes: two names may look alike.
    package struct Match: Hashable {
        private let text: String
        /// True if the path is text, as the values of inputs are.
        let isText: Bool

        fileprivate init(_ text: String, isText: Bool = true) { (self.text, self.isText) = (text, isText) }

        /// The path; of one that is no text with `\xNN` for each byte that is none.
        package var path: String { text }
        package var bytes: String.UTF8View { text.utf8 }

        package static func == (left: Match, right: Match) -> Bool { left.bytes.elementsEqual(right.bytes) }

        package func hash(into hasher: inout Hasher) { for byte in bytes { hasher.combine(byte) } }
    }

    private func walk(_ names: ArraySlice<String>, at path: String, _ folder: String, _ found: inout Set<Match>) {
        guard let name = names.first else { return }
        let rest = names.dropFirst()
        func place(_ path: String) -> String { path.hasPrefix("/") ? path : folder + "/" + path }
        if name == "**" {
            // Also no folder at all: `**/x` finds `x`.
            walk(rest.isEmpty ? ["*"] : rest, at: path, folder, &found)
            for entry in Self.entries(of: place(path)).names where !entry.hasPrefix(".") {
                if Self.isFolder(place(path + entry), followingLinks: false) {
                    walk(names, at: path + entry + "/", folder, &found)
                }
            }
            return
        }
        guard Self.isWild(name) else { return step(to: name) }
        let entries = Self.entries(of: place(path))
        for entry in entries.names where Self.matches(entry, name) { step(to: entry) }
        // What a folder of such a name holds has no path that is text either.
        for entry in entries.others where Self.matches(entry, name) {
            found.insert(Match(path + Self.escaped(entry), isText: false))
        }

        func step(to entry: String) {
            let next = path + entry
            if rest.isEmpty {
                if Self.isFile(place(next)) { found.insert(Match(next)) }
            } else if Self.isFolder(place(next), followingLinks: true) {
                walk(rest, at: next + "/", folder, &found)
            }
        }
    }

    private static func matches(_ name: String, _ pattern: String) -> Bool {
        NameLocale.shared.within { fnmatch(pattern, name, FNM_PERIOD) == 0 }
    }

    private static func matches(_ name: [CChar], _ pattern: String) -> Bool { fnmatch(pattern, name, FNM_PERIOD) == 0 }

    /// A name that is no text, with `\xNN` for each byte beyond ASCII.
    private static func escaped(_ name: [CChar]) -> String {
        name.dropLast().map { byte in
            byte >= 0x20 ? String(Unicode.Scalar(UInt8(byte))) : "\\x" + [UInt8(bitPattern: byte)].hex
        }.joined()
    }

    private static func isFile(_ path: String) -> Bool {
        var status = stat()
        return (stat(path, &status) == 0 || lstat(path, &status) == 0) && status.st_mode & S_IFMT != S_IFDIR
    }

    private static func isFolder(_ path: String, followingLinks: Bool) -> Bool {
        var status = stat()
        return (followingLinks ? stat(path, &status) : lstat(path, &status)) == 0
            && status.st_mode & S_IFMT == S_IFDIR
    }

    /// The names in a folder: those that are text in UTF-8, and the others with the zero at their end.
    private static func entries(of folder: String) -> (names: [String], others: [[CChar]]) {
        guard let stream = opendir(folder.isEmpty ? "." : folder) else { return ([], []) }
        defer { closedir(stream) }
        var (names, others) = ([String](), [[CChar]]())
        while let entry = readdir(stream) {
            withUnsafePointer(to: &entry.pointee.d_name) { name in
                name.withMemoryRebound(to: CChar.self, capacity: 1) { name in
                    if let text = String(validatingCString: name) {
                        if text != ".", text != ".." { names.append(text) }
                    } else {
                        others.append(Array(UnsafeBufferPointer(start: name, count: strlen(name) + 1)))
                    }
                }
            }
        }
        return (names, others)
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
