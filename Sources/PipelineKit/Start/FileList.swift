import CLibrary
import PipelineCore

/// The files that a text of an input of type `files` names: one file, a folder, or a pattern.
enum FileList {
    /// Absolute paths in order of their bytes. Hidden files of a folder are left out, and its folders.
    ///
    /// A text that is the path of something that exists is that, whatever characters it has; otherwise it is a
    /// pattern like that of items (``FilePattern``).
    static func paths(of text: String, in folder: String, for name: String) throws(StepFailure) -> [String] {
        guard !text.isEmpty else {
            throw StepFailure(
                "the input '\(name)' is given no path: its value is empty",
                hint: "give files with -i \(name)=PATTERN; '.' is the working directory")
        }
        let path = AbsolutePath.of(text, in: folder)
        if let kind = kind(of: path) { return kind == S_IFDIR ? try files(in: path, for: name) : [path] }
        guard isPattern(text) else { return [path] }
        let pattern: FilePattern
        do throws(ItemSourceError) {
            pattern = try FilePattern(text)
        } catch {
            throw StepFailure("the input '\(name)': \(error.message)", hint: error.hint)
        }
        let files = try texts(of: pattern.files(in: folder), for: name).map { AbsolutePath.of($0, in: folder) }
            .sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        guard files.isEmpty else { return files }
        throw StepFailure(
            "no file matches \(text) for the input '\(name)'", hint: "give other files with -i \(name)=PATTERN")
    }

    /// Returns a text that names the same files from any folder, whether they are there or not.
    static func absolute(_ text: String, in folder: String) -> String {
        guard !text.isEmpty else { return text }
        let path = AbsolutePath.of(text, in: folder)
        guard kind(of: path) == nil, isPattern(text) else { return path }
        return AbsolutePath.ofPattern(text, in: FilePattern.literal(folder))
    }

    private static func isPattern(_ text: String) -> Bool { text.utf8.contains { "*?[{".utf8.contains($0) } }

    private static func files(in folder: String, for name: String) throws(StepFailure) -> [String] {
        let files = try texts(of: FilePattern.files(of: folder), for: name).filter { kind(of: $0) == S_IFREG }
        guard files.isEmpty else { return files }
        throw StepFailure(
            "there is no file in \(folder) for the input '\(name)'", hint: "give another folder with -i \(name)=PATH")
    }

    /// The paths of what was found, all of which must be text.
    private static func texts(of found: [FilePattern.Match], for name: String) throws(StepFailure) -> [String] {
        if let other = found.first(where: { !$0.isText }) {
            throw StepFailure(
                "the path \(other.path) is no text in UTF-8, and the input '\(name)' is one",
                hint: "rename the file or its folder, or give a pattern that leaves it out")
        }
        return found.map(\.path)
    }

    /// The type of a file in its mode; nil for what does not exist.
    private static func kind(of path: String) -> mode_t? {
        var facts = stat()
        return stat(path, &facts) == 0 ? facts.st_mode & S_IFMT : nil
    }
}
