import CLibrary

/// Reads a file line by line: what stands between line feeds, without blanks and carriage returns around it, and without
/// the byte order mark of a file, perhaps of one that was put behind another; empty lines are passed over. It holds one
/// line and one block of the file.
///
/// Belongs to one reader and is used by one thread at a time.
package final class LineReader {
    private static let block = 256 << 10

    package let path: String
    private let descriptor: Int32
    private var buffer: [UInt8] = []
    private var start = 0
    private var isAtEnd = false
    /// The number of the line that was given last, from 1.
    package private(set) var number = 0

    /// - Throws: ``RequestFailure`` when the file can't be opened.
    package init(_ path: String) throws(RequestFailure) {
        self.path = path
        descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Self.failure(path) }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// The next line that is not empty; nil at the end.
    package func next() throws(RequestFailure) -> [UInt8]? {
        while let line = try nextLine() {
            number += 1
            let hasMark = line.starts(with: [0xEF, 0xBB, 0xBF])
            let trimmed = Self.trimmed(hasMark ? line.dropFirst(3) : line)
            if !trimmed.isEmpty { return Array(trimmed) }
        }
        return nil
    }

    private func nextLine() throws(RequestFailure) -> ArraySlice<UInt8>? {
        var searched = start
        while true {
            if let end = Self.lineFeed(in: buffer, from: searched) {
                defer { start = end + 1 }
                return buffer[start..<end]
            }
            searched = buffer.count
            if isAtEnd {
                guard start < buffer.count else { return nil }
                defer { start = buffer.count }
                return buffer[start...]
            }
            searched -= start
            buffer.removeFirst(start)
            start = 0
            try fill()
        }
    }

    private func fill() throws(RequestFailure) {
        let held = buffer.count
        var count = 0
        buffer.reserveCapacity(held + Self.block)
        let piece = [UInt8](unsafeUninitializedCapacity: Self.block) { space, filled in
            repeat { count = read(descriptor, space.baseAddress, Self.block) } while count < 0 && errno == EINTR
            filled = max(0, count)
        }
        guard count >= 0 else { throw Self.failure(path) }
        isAtEnd = count == 0
        buffer += piece
    }

    private static func lineFeed(in bytes: [UInt8], from start: Int) -> Int? {
        bytes.withUnsafeBytes { bytes in
            guard start < bytes.count, let base = bytes.baseAddress,
                let found = memchr(base + start, 10, bytes.count - start)
            else { return nil }
            return UnsafeRawPointer(found) - base
        }
    }

    private static func trimmed(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let isBlank = { (byte: UInt8) in byte == 0x20 || byte == 0x09 || byte == 0x0D }
        let rest = line.drop(while: isBlank)
        return rest[..<((rest.lastIndex { !isBlank($0) } ?? rest.startIndex - 1) + 1)]
    }

    private static func failure(_ path: String) -> RequestFailure {
        RequestFailure("can't read \(path): \(String(cString: strerror(errno)))")
    }
}
