import PipelineStages

/// One place that the items of a batch come from, as `--each` names it.
package enum ItemSource: Sendable, Equatable {
    /// The files that a pattern finds, each the value of an input.
    case files(input: String, pattern: String)
    /// Lines of standard input, ended by a line feed or NUL, each the value of an input.
    case values(input: String, separator: UInt8)
    /// JSON objects, one a line; nil for standard input.
    case objects(path: String?)
    /// A table with a header; nil for standard input.
    case table(path: String?, separator: UInt8)

    /// - Parameters:
    ///   - text: the argument of `--each`.
    ///   - inputs: the names of the document's inputs.
    /// - Throws: ``ItemSourceError`` for an argument that is none of the forms.
    package init(_ text: String, inputs: [String]) throws(ItemSourceError) {
        if text == "-" {
            self = .objects(path: nil)
            return
        }
        if let equals = text.utf8.firstIndex(of: UInt8(ascii: "=")) {
            let (name, value) = (String(text[..<equals]), String(text[text.utf8.index(after: equals)...]))
            if inputs.contains(name) {
                self = try Self.source(of: name, value)
                return
            }
            if value == "-", let separator = Self.separator(of: name) {
                self = .table(path: nil, separator: separator)
                return
            }
            if Self.separator(of: text) == nil, !Self.isObjects(text) {
                let known = inputs.joined(separator: ", ")
                throw ItemSourceError(
                    "--each \(text): the document has no input '\(name)'",
                    hint: known.isEmpty ? "it has no inputs at all" : "its inputs are \(known)")
            }
        }
        if let separator = Self.separator(of: text) {
            self = .table(path: text, separator: separator)
        } else if Self.isObjects(text) {
            self = .objects(path: text)
        } else {
            let forms = "NAME=GLOB, NAME=- for lines, FILE.jsonl, FILE.csv, FILE.tsv, or - for JSON Lines"
            throw ItemSourceError(
                "--each \(text) says neither an input nor a kind of file",
                hint: inputs.count == 1 ? "write --each \(inputs[0])='\(text)', or one of \(forms)" : "write \(forms)")
        }
    }

    /// The name by which people call it.
    package var name: String {
        switch self {
        case .files(_, let pattern): pattern
        case .objects(let path?), .table(let path?, _): path
        case .values, .objects, .table: "standard input"
        }
    }

    /// The path of a file that rows are read from; nil for other sources.
    package var path: String? {
        switch self {
        case .objects(let path), .table(let path, _): path
        case .files, .values: nil
        }
    }

    /// Returns whether a file with an absolute path is one of those that are read, there or not yet.
    package func reads(_ file: String, in folder: String) throws(ItemSourceError) -> Bool {
        if case .files(_, let pattern) = self { return try FilePattern(pattern).finds(file, in: folder) }
        guard let path, let found = SourceFingerprint.text(ofFileAt: file) else { return false }
        return found == SourceFingerprint.text(ofFileAt: AbsolutePath.of(path, in: folder))
    }

    private static func source(of name: String, _ value: String) throws(ItemSourceError) -> ItemSource {
        switch value {
        case "-": .values(input: name, separator: 0x0A)
        case "-0": .values(input: name, separator: 0)
        case "": throw ItemSourceError("--each \(name)= names no files", hint: "write \(name)='folder/*'")
        default: .files(input: name, pattern: value)
        }
    }

    private static func separator(of path: String) -> UInt8? {
        let name = path.lowercased()
        if name.hasSuffix(".csv") { return UInt8(ascii: ",") }
        return name.hasSuffix(".tsv") ? 0x09 : nil
    }

    private static func isObjects(_ path: String) -> Bool {
        let name = path.lowercased()
        return name.hasSuffix(".jsonl") || name.hasSuffix(".ndjson")
    }

    /// Returns whether an argument of `--each` means standard input, whatever the inputs are called.
    package static func isStandardInput(_ text: String) -> Bool {
        guard let equals = text.utf8.firstIndex(of: UInt8(ascii: "=")) else { return text == "-" }
        return ["-", "-0"].contains(text[text.utf8.index(after: equals)...])
    }

    /// True if it can be read only once.
    package var isStandardInput: Bool {
        switch self {
        case .files: false
        case .values: true
        case .objects(let path), .table(let path, _): path == nil
        }
    }
}

/// Reads the files of a pattern as rows.
package final class FileReader: ItemReader {
    private let files: [FilePattern.Match]
    private var index: Int
    /// The part of each path that a key leaves out.
    package let fixedPart: String

    /// - Parameters:
    ///   - folder: what a relative pattern is relative to.
    ///   - place: where an earlier reading came to: files up to that path are passed over.
    /// - Throws: ``ItemSourceError`` when nothing matches.
    package init(_ text: String, in folder: String, from place: ItemPlace? = nil) throws(ItemSourceError) {
        let pattern = try FilePattern(text)
        files = pattern.files(in: folder)
        fixedPart = pattern.fixedPart
        guard !files.isEmpty else {
            throw ItemSourceError(
                "no file matches '\(text)'",
                hint: pattern.isPlain
                    ? pattern.isFolder(in: folder)
                        ? "it is a folder: '\(text)/*' means the files in it"
                        : "there is no such file; is the pattern in quotes, so that the shell leaves it alone?"
                    : "check the pattern; hidden files need a dot in it, and '**' finds files in folders below")
        }
        index = 0
        if case .path(let last)? = place {
            index = files.firstIndex { last.utf8.lexicographicallyPrecedes($0.bytes) } ?? files.count
        }
    }

    package var place: ItemPlace { .path(index > 0 ? files[index - 1].path : "") }
    package func willWait(_ body: @escaping () -> Void) {}

    package func next() -> ItemRow? {
        guard index < files.count else { return nil }
        index += 1
        let file = files[index - 1]
        return ItemRow(line: nil, content: file.isText ? .value(file.path) : .badName(file.path))
    }
}
