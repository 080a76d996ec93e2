import CLibrary
import SystemPackage

/// The bytes of a file or a pipe, block by block.
///
/// Belongs to one reader and is used by one thread at a time.
final class ByteSource {
    private static let block = 64 << 10
    /// A byte order mark in UTF-8, which some programs put before their text (RFC 3629, section 6).
    private static let mark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// As a message names it.
    let name: String
    private let descriptor: FileDescriptor
    private let isOwned: Bool
    private var buffer: [UInt8] = []
    private var position = 0
    /// The place of the next byte from the beginning of the source.
    private(set) var offset: Int64 = 0
    /// Called before the next bytes of a pipe are waited for, which has none now.
    var willWait: (() -> Void)?

    /// Opens a file, or takes standard input for a nil path.
    ///
    /// - Throws: ``ItemSourceError`` when it can't be opened or is a folder.
    init(_ path: String?) throws(ItemSourceError) {
        guard let path else {
            (name, descriptor, isOwned) = ("standard input", .standardInput, false)
            return
        }
        name = path
        var status = stat()
        let isPipe = stat(path, &status) == 0 && ![S_IFREG, S_IFDIR].contains(status.st_mode & S_IFMT)
        if isPipe {
            throw ItemSourceError(
                "\(path) is no regular file, and would be read twice",
                hint: "read a pipe from standard input: '--each -' for JSON Lines, '--each rows.csv=-' for a table")
        }
        do {
            descriptor = try FileDescriptor.open(FilePath(path), .readOnly, options: .closeOnExec)
        } catch {
            throw ItemSourceError("cannot read \(path): \(error)", hint: "check the path after --each")
        }
        isOwned = true
    }

    deinit { if isOwned { try? descriptor.close() } }

    /// Goes on at a byte; only of a source that is a file.
    func seek(to offset: Int64) throws(ItemSourceError) {
        do {
            try descriptor.seek(offset: offset, from: .start)
        } catch {
            throw ItemSourceError("cannot go on in \(name) at byte \(offset): \(error)")
        }
        self.offset = offset
        buffer.removeAll()
        position = 0
    }

    /// The next byte without taking it; nil at the end.
    func peek() throws(ItemSourceError) -> UInt8? {
        if position == buffer.count, try !fill() { return nil }
        return buffer[position]
    }

    /// Takes the byte that ``peek()`` showed.
    func advance() {
        position += 1
        offset += 1
    }

    /// Passes over a byte order mark at the beginning.
    func skipMark() throws(ItemSourceError) {
        guard try peek() == Self.mark[0], buffer.count >= position + 3 else { return }
        if Array(buffer[position..<position + 3]) == Self.mark { for _ in 0..<3 { advance() } }
    }

    /// The bytes up to a separator, which is taken too; nil at the end of the source. Of more than `limit` bytes only as
    /// many are kept, and the second value is true.
    func record(endedBy separator: UInt8, limit: Int) throws(ItemSourceError) -> (bytes: [UInt8], isCut: Bool)? {
        guard try peek() != nil else { return nil }
        var bytes: [UInt8] = []
        var isCut = false
        while try peek() != nil {
            let rest = buffer[position...]
            let end = rest.firstIndex(of: separator)
            let piece = rest[..<(end ?? rest.endIndex)]
            let room = limit - bytes.count
            bytes += piece.prefix(room)
            isCut = isCut || piece.count > room
            let count = piece.count + (end == nil ? 0 : 1)
            position += count
            offset += Int64(count)
            if end != nil { break }
        }
        return (bytes, isCut)
    }

    private func fill() throws(ItemSourceError) -> Bool {
        buffer.removeAll(keepingCapacity: true)
        position = 0
        if !isOwned, let willWait {
            var state = pollfd(fd: descriptor.rawValue, events: Int16(POLLIN), revents: 0)
            if poll(&state, 1, 0) == 0 { willWait() }
        }
        do {
            buffer = try [UInt8](unsafeUninitializedCapacity: Self.block) { space, count in
                count = try descriptor.read(into: UnsafeMutableRawBufferPointer(space))
            }
        } catch {
            throw ItemSourceError("cannot read \(name): \(error)")
        }
        return !buffer.isEmpty
    }
}
