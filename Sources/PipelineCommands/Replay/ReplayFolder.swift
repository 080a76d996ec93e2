import CLibrary
import PipelineKit

/// A folder of a command's own for files that nobody keeps.
enum ReplayFolder {
    /// Removes one with all that is in it; links are not followed.
    static func remove(_ path: String) {
        guard CLibrary.remove(path) != 0, errno == ENOTEMPTY || errno == EEXIST else { return }
        for name in FolderContent.names(path) { remove("\(path)/\(name)") }
        CLibrary.remove(path)
    }

    /// Makes one, and returns its path.
    static func make() throws -> String {
        let base = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var template = Array("\(base)/pipeline-test-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw CommandError(.failed, "cannot make a folder in \(base): \(FileContent.reason)")
        }
        return String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
