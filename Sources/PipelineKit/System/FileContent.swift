import CLibrary

/// Whole small files.
package enum FileContent {
    /// The bytes of a file of at most `limit` bytes; nil with `errno` set when it can't be read (`EFBIG` when it is
    /// larger, `EISDIR` for a folder).
    package static func bytes(_ path: String, limit: Int = 256 << 20) -> [UInt8]? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = CLibrary.read(descriptor, &buffer, buffer.count)
            if count == 0 { return bytes }
            if count < 0 {
                if errno == EINTR { continue }
                return nil
            }
            bytes += buffer[0..<count]
            if bytes.count > limit {
                errno = EFBIG
                return nil
            }
        }
    }

    /// The text of a file in UTF-8; nil with `errno` set when it can't be read (`EILSEQ` when it is no UTF-8).
    package static func text(_ path: String, limit: Int = 256 << 20) -> String? {
        guard let bytes = bytes(path, limit: limit) else { return nil }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            errno = EILSEQ
            return nil
        }
        return text
    }

    /// Replaces a file, readable by its owner alone; false with `errno` set when that can't be.
    package static func write(_ bytes: [UInt8], to path: String) -> Bool {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return write(bytes, to: descriptor)
    }

    /// Puts the bytes in the place of a file, whole and on the disk when it returns; false with `errno` set when that can't be,
    /// and then nothing has changed but perhaps the file's durability.
    package static func replace(_ path: String, with bytes: [UInt8]) -> Bool {
        let draft = "\(path).\(String(UInt64.random(in: .min ... .max), radix: 36))"
        guard write(bytes, to: draft), sync(draft), rename(draft, path) == 0 else {
            let code = errno
            unlink(draft)
            errno = code
            return false
        }
        return sync(String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)]) + "/")
    }

    /// Has a file, or the names in a folder, written to the disk.
    private static func sync(_ path: String) -> Bool {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        // Some file systems refuse it for folders; then there is nothing more that could be done.
        return fsync(descriptor) == 0 || errno == EINVAL || errno == ENOTSUP
    }

    /// Writes all of the bytes, whatever the other end takes at a time; false with `errno` set when that can't be.
    ///
    /// Waits for a pipe that is full also where another process made it one that does not block (`O_NONBLOCK`), as Node
    /// does with those that it shares with its children.
    package static func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { CLibrary.write(descriptor, $0.baseAddress, $0.count) }
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if errno == EAGAIN {
                var room = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                _ = poll(&room, 1, -1)
            } else if errno != EINTR {
                return false
            }
        }
        return true
    }

    /// True if nothing is at the path of the last failed call (`ENOENT`, `ENOTDIR`).
    package static var isMissing: Bool { errno == ENOENT || errno == ENOTDIR }

    /// True if the last failed call lacked a right.
    package static var isForbidden: Bool { errno == EACCES }

    /// The reason of the last failed call, in words.
    package static var reason: String { String(cString: strerror(errno)).lowercased() }
}
