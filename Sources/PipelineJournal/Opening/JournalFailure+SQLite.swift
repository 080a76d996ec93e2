import GRDB
import GRDBSQLite
import PipelineCore

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

extension JournalFailure {
    /// What an SQLite result code means for the journal's callers (sqlite.org/rescode.html).
    ///
    /// `system` is errno of the call below it: a full disk is not always SQLITE_FULL, e.g. when the shared memory file
    /// can't grow or a limit on file sizes is reached.
    init(sqlite code: Int32, system: Int32, message: String, folder: String, file: String) {
        let isSystemFull = [ENOSPC, EDQUOT, EFBIG].contains(system)
        switch code & 0xFF {
        case SQLITE_FULL: self = .full(folder: folder)
        case SQLITE_IOERR where isSystemFull, SQLITE_CANTOPEN where isSystemFull: self = .full(folder: folder)
        case SQLITE_READONLY, SQLITE_CANTOPEN, SQLITE_PERM, SQLITE_AUTH:
            self = .notWritable(folder: folder, reason: Self.reason(message, system))
        case SQLITE_CORRUPT, SQLITE_NOTADB: self = .damaged(file: file, reason: message)
        case SQLITE_BUSY, SQLITE_LOCKED: self = .busy
        case SQLITE_IOERR:
            self = .other("the journal \(file) can't be read or written: \(Self.reason(message, system))")
        default: self = .other("the journal's database refused: \(message) (SQLite code \(code))")
        }
    }

    /// The failure of a GRDB call; errno is that of the call that has just failed.
    init(_ error: any Error, folder: String, file: String) {
        let system = errno
        switch error {
        case let failure as JournalFailure: self = failure
        case let error as DatabaseError:
            self.init(
                sqlite: error.extendedResultCode.rawValue, system: system, message: error.message ?? "unknown error",
                folder: folder, file: file)
        default: self = .other("\(error)")
        }
    }

    /// Whether the failure is the caller's alone: other calls of the same transaction are kept.
    var concernsOneCall: Bool {
        switch self {
        case .stale, .owned, .conflict, .keyTaken, .noSuchJob, .other: true
        case .full, .notWritable, .damaged, .newer, .busy: false
        }
    }

    private static func reason(_ message: String, _ system: Int32) -> String {
        system == 0 ? message : "\(message): \(String(cString: strerror(system)))"
    }
}
