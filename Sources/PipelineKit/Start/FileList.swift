import CLibrary
import PipelineCore

/// The files that a text of an input of type `files` names: one file, a folder, or a pattern.
enum FileList {
    /// Absolute paths in order of their bytes. Hidden files of a folder are left out, and its folders.
    ///
    /// A text that is the path of something that exists is that, whatever characters it has; otherwise it is a
    /// pattern as in the shell (glob(7)).
    static func paths(of text: String, in folder: String, for name: String) throws(StepFailure) -> [String] {
        let path = AbsolutePath.of(text, in: folder)
        if let kind = kind(of: path) { return kind == S_IFDIR ? try files(in: path, for: name) : [path] }
        guard text.utf8.contains(where: { "*?[".utf8.contains($0) }) else { return [path] }
        var found = glob_t()
        defer { globfree(&found) }
        // A pattern begins at the folder, whose own name is no pattern.
        let pattern = text.hasPrefix("/") ? text : escaped(folder) + "/" + text
        _ = glob(pattern, GLOB_NOSORT, nil, &found)
        let paths = (0..<Int(found.gl_pathc)).compactMap { index in
            found.gl_pathv[index].map { String(cString: $0) }
        }
        let files = paths.filter { kind(of: $0) != S_IFDIR }.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        guard files.isEmpty else { return files }
        throw StepFailure(
            "no file matches \(text) for the input '\(name)'", hint: "give other files with -i \(name)=PATTERN")
    }

    private static func files(in folder: String, for name: String) throws(StepFailure) -> [String] {
        let files = FolderContent.names(folder).filter { !$0.hasPrefix(".") }
            .map { folder.hasSuffix("/") ? folder + $0 : "\(folder)/\($0)" }
            .filter { kind(of: $0) == S_IFREG }.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        guard files.isEmpty else { return files }
        throw StepFailure(
            "there is no file in \(folder) for the input '\(name)'", hint: "give another folder with -i \(name)=PATH")
    }

    /// The type of a file in its mode; nil for what does not exist.
    private static func kind(of path: String) -> mode_t? {
        var facts = stat()
        return stat(path, &facts) == 0 ? facts.st_mode & S_IFMT : nil
    }

    private static func escaped(_ path: String) -> String {
        String(
            path.unicodeScalars.flatMap { scalar -> [Character] in
                "*?[\\".unicodeScalars.contains(scalar) ? ["\\", Character(scalar)] : [Character(scalar)]
            })
    }
}
