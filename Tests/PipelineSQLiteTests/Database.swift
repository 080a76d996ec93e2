import CLibrary
import PipelineSQL
import PipelineSQLite

/// A database file of a test's own, removed at the end with its folder.
final class Database {
    let folder: String
    var path: String { folder + "/test.sqlite" }

    init() {
        var template = Array("/tmp/pipeline-sqlite-XXXXXX".utf8CString)
        folder = mkdtemp(&template) == nil ? "" : String(decoding: template.dropLast().map(UInt8.init), as: UTF8.self)
        precondition(!folder.isEmpty, "no temporary folder")
    }

    deinit {
        for name in ["test.sqlite", "test.sqlite-wal", "test.sqlite-shm", "test.sqlite-journal"] {
            unlink(folder + "/" + name)
        }
        rmdir(folder)
    }

    /// A connection to it; the file is made at the first.
    func connect(busyTimeout: Duration = .milliseconds(20)) throws(SQLiteError) -> SQLiteConnection {
        try SQLiteConnection(path, makesFile: true, busyTimeout: busyTimeout)
    }

    /// Replaces the file's content.
    func write(_ bytes: [UInt8], at offset: Int = 0) {
        let descriptor = open(path, O_WRONLY | O_CREAT, 0o600)
        defer { close(descriptor) }
        precondition(pwrite(descriptor, bytes, bytes.count, offset) == bytes.count)
    }
}
