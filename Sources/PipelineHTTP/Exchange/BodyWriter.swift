import CLibrary

/// Writes a body to a file, many pieces at a time.
///
/// libcurl hands over 16 KiB at most (https://curl.se/libcurl/c/CURLOPT_WRITEFUNCTION.html); written one by one they cost
/// the kernel a third more than half a mebibyte at a time, although each byte is copied once for that. What is gathered
/// goes out when it is enough, when no more is there to read, and at the end. Used on the thread that owns the exchange
/// only.
final class BodyWriter {
    /// The most that is gathered.
    static let mostBytes = 512 << 10

    private let descriptor: Int32
    private let path: String
    private let isOwned: Bool
    private let file: FileSink
    /// The place in the file where the next write goes.
    private var offset: Int64
    private let capacity: Int
    private var gathered: UnsafeMutableRawBufferPointer?
    private var count = 0
    /// Set when writing had to stop.
    private(set) var failure: ExchangeFailure.Reason?
    /// True once the body went on behind the place where the sink wants it to end.
    private(set) var isBeyondEnd = false

    /// - Parameters:
    ///   - path: empty for a descriptor of the caller's, who closes it.
    ///   - length: how long the body is, where that is known: no more than that is gathered.
    ///   - most: the most that is gathered of a longer one.
    init(
        _ descriptor: Int32, offset: Int64, path: String = "", isOwned: Bool = false, file: FileSink, length: Int64?,
        most: Int = BodyWriter.mostBytes
    ) {
        self.descriptor = descriptor
        self.offset = offset
        self.path = path
        self.isOwned = isOwned
        self.file = file
        capacity = Int(min(Int64(most), max(1, length ?? .max)))
    }

    deinit { finish() }

    /// True if something waits to be written.
    var hasGathered: Bool { count > 0 }

    /// Takes the next piece; false when writing has to stop.
    func take(_ bytes: UnsafeRawBufferPointer) -> Bool {
        if count + bytes.count > capacity, !flush() { return false }
        if bytes.count >= capacity { return write(bytes) }
        let buffer = gathered ?? .allocate(byteCount: capacity, alignment: 4096)
        gathered = buffer
        UnsafeMutableRawBufferPointer(rebasing: buffer[count...]).copyMemory(from: bytes)
        count += bytes.count
        return count < capacity || flush()
    }

    /// Writes what was gathered; false when writing has to stop.
    func flush() -> Bool {
        guard let gathered, count > 0 else { return failure == nil }
        defer { count = 0 }
        return write(UnsafeRawBufferPointer(rebasing: gathered[..<count]))
    }

    /// Writes the rest, and closes a file that is its own.
    func finish() {
        if failure == nil, !isBeyondEnd { _ = flush() }
        gathered?.deallocate()
        gathered = nil
        count = 0
        guard isOwned, !isClosed else { return }
        isClosed = true
        if close(descriptor) != 0, errno != EINTR, failure == nil { failure = .localWrite(errno: errno, path: path) }
    }

    private var isClosed = false

    private func write(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard failure == nil else { return false }
        let room = file.end.map { Int(max(0, min(Int64(bytes.count), $0() - offset))) } ?? bytes.count
        let wanted = UnsafeRawBufferPointer(rebasing: bytes[..<room])
        guard writeAll(wanted) else { return false }
        offset += Int64(room)
        if room > 0 { file.onBytes?(wanted) }
        isBeyondEnd = room < bytes.count
        return !isBeyondEnd
    }

    private func writeAll(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var done = 0
        while done < bytes.count {
            let count = pwrite(
                descriptor, bytes.baseAddress! + done, bytes.count - done, off_t(offset + Int64(done)))
            if count > 0 {
                done += count
            } else if count == 0 || errno != EINTR {
                failure = .localWrite(errno: count == 0 ? ENOSPC : errno, path: path)
                return false
            }
        }
        return true
    }
}
