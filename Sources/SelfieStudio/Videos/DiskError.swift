import CLibrary

/// A file operation that the system refused.
struct DiskError: Error, Equatable, CustomStringConvertible {
    /// The action that was tried and on what, and the system's reason.
    var description: String

    init(_ operation: String, _ path: String, _ code: CInt) {
        description = "can't \(operation) \(path): \(String(cString: strerror(code)))"
    }

    /// Runs a system call again while a signal interrupts it.
    static func check(_ operation: String, _ path: String, _ call: () -> CInt) throws(DiskError) -> CInt {
        while true {
            let result = call()
            guard result < 0 else { return result }
            let code = errno
            if code != EINTR { throw DiskError(operation, path, code) }
        }
    }
}
