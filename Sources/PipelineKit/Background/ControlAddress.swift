import CLibrary
import PipelineJournal

/// The control socket of a state folder's background owner (unix(7)): where its name stands, and how it is reached.
package struct ControlAddress: Sendable {
    private let name: SocketName

    /// - Parameters:
    ///   - stateFolder: absolute.
    ///   - isWorker: true for that of a worker which serves pages; it owns no jobs of the folder.
    package init(stateFolder: String, isWorker: Bool = false) {
        name = SocketName(isWorker ? "worker.sock" : "control.sock", in: stateFolder)
    }

    /// The place where the socket's name stands.
    package var path: String { name.path }

    /// A stream socket that is closed in programs that this one runs; nil with `errno` set.
    static func open() -> Int32? {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        return descriptor >= 0 ? descriptor : nil
    }

    /// A socket that listens under the name, which it takes over; nil with `errno` set. Only the caller who holds the
    /// folder's background lock may do this.
    package func listen() -> Int32? {
        guard let descriptor = Self.open() else { return nil }
        unlink(path)
        guard name.withAddress({ bind(descriptor, $0, $1) }) == 0, chmod(path, 0o600) == 0,
            CLibrary.listen(descriptor, 64) == 0
        else {
            let code = errno
            close(descriptor)
            errno = code
            return nil
        }
        return descriptor
    }

    /// A connection to the background owner; nil with `errno` set when none listens.
    package func connect() -> Int32? {
        guard let descriptor = Self.open() else { return nil }
        guard name.withAddress({ CLibrary.connect(descriptor, $0, $1) }) == 0 else {
            let code = errno
            close(descriptor)
            errno = code
            return nil
        }
        return descriptor
    }
}
