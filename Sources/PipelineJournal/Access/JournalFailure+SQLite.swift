import CLibrary
import CSQLite
import PipelineCore
package import PipelineSQLite

extension JournalFailure: SQLiteFailure {
    /// Makes of a failed call what it means for the journal's callers.
    package init(_ error: SQLiteError) {
        let folder = StateFolder.parent(of: error.file)
        let isSystemFull = [ENOSPC, EDQUOT, EFBIG].contains(error.system)
        switch error.primaryCode {
        case SQLITE_FULL: self = .full(folder: folder)
        case SQLITE_IOERR where isSystemFull, SQLITE_CANTOPEN where isSystemFull: self = .full(folder: folder)
        case SQLITE_READONLY, SQLITE_CANTOPEN, SQLITE_PERM, SQLITE_AUTH:
            // SQLite names the last call that failed, and tries others after the one that a read-only disk refused.
            let system = access(folder, W_OK) == 0 ? error.system : errno
            self = .notWritable(folder: folder, reason: Self.reason(error.message, system))
        case SQLITE_CORRUPT, SQLITE_NOTADB: self = .damaged(file: error.file, reason: error.message)
        case SQLITE_BUSY, SQLITE_LOCKED: self = .busy
        case SQLITE_IOERR:
            let reason = Self.reason(error.message, error.system)
            self = .other("the journal \(error.file) can't be read or written: \(reason)")
        default: self = .other("the journal's database refused: \(error.message) (SQLite code \(error.code))")
        }
    }

    /// True if the failure is the caller's alone: other calls of the same transaction are kept.
    var concernsOneCall: Bool {
        switch self {
        case .stale, .owned, .conflict, .keyTaken, .noSuchJob, .refused, .other: true
        case .full, .notWritable, .moved, .damaged, .newer, .busy, .away: false
        }
    }

    private static func reason(_ message: String, _ system: Int32) -> String {
        system == 0 ? message : "\(message): \(String(cString: strerror(system)))"
    }
}
