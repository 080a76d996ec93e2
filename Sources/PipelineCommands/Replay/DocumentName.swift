/// The name of a pipeline file.
enum DocumentName {
    /// The last component of a path without its ending.
    static func of(_ path: String) -> String {
        let file = path.split(separator: "/").last.map(String.init) ?? path
        return file.hasSuffix(".json") ? String(file.dropLast(5)) : file
    }
}
