import CLibrary

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

    /// The files that match, sorted, below a folder for a relative pattern; each once.
    package func files(in folder: String) -> [String] {
        var found: Set<String> = []
        for names in alternatives { walk(names[...], at: isAbsolute ? "/" : "", folder, &found) }
        return found.sorted()
    }

    private func walk(_ names: ArraySlice<String>, at path: String, _ folder: String, _ found: inout Set<String>) {
        guard let name = names.first else { return }
        let rest = names.dropFirst()
        func place(_ path: String) -> String { path.hasPrefix("/") ? path : folder + "/" + path }
        if name == "**" {
            // Also no folder at all: `**/x` finds `x`.
            walk(rest.isEmpty ? ["*"] : rest, at: path, folder, &found)
            for entry in Self.entries(of: place(path)) where !entry.hasPrefix(".") {
                if Self.isFolder(place(path + entry), followingLinks: false) {
                    walk(names, at: path + entry + "/", folder, &found)
                }
            }
            return
        }
        let entries = Self.isWild(name) ? Self.entries(of: place(path)).filter { Self.matches($0, name) } : [name]
        for entry in entries {
            let next = path + entry
            if rest.isEmpty {
                if Self.isFile(place(next)) { found.insert(next) }
            } else if Self.isFolder(place(next), followingLinks: true) {
                walk(rest, at: next + "/", folder, &found)
            }
        }
    }

    private static func matches(_ name: String, _ pattern: String) -> Bool { fnmatch(pattern, name, FNM_PERIOD) == 0 }

    private static func isFile(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT != S_IFDIR
    }

    private static func isFolder(_ path: String, followingLinks: Bool) -> Bool {
        var status = stat()
        return (followingLinks ? stat(path, &status) : lstat(path, &status)) == 0
            && status.st_mode & S_IFMT == S_IFDIR
    }

    private static func entries(of folder: String) -> [String] {
        guard let stream = opendir(folder.isEmpty ? "." : folder) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { name in
                name.withMemoryRebound(to: CChar.self, capacity: 1) { String(validatingCString: $0) }
            }
            if let name, name != ".", name != ".." { names.append(name) }
        }
        return names
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
