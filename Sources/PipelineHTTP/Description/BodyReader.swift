import CLibrary

/// Reads the segments of a body one after the other, with one file open at a time.
///
/// Belongs to one exchange and is used on the thread that owns it only.
final class BodyReader {
    private let segments: [BodySegment]
    private var index = 0
    private var position: Int64 = 0
    private var descriptor: Int32 = -1
    private var gzip: GzipStream?
    private var lines: JoinedLines?
    private var base64: Base64File?
    /// Set when reading had to stop.
    private(set) var failure: ExchangeFailure.Reason?

    init(_ segments: [BodySegment]) {
        self.segments = segments
    }

    deinit {
        closeFile()
    }

    /// Closes what is open; nothing more is read.
    func finish() { closeFile() }

    /// Reads to the end and gives the pieces, in order.
    func forEach(_ take: (UnsafeRawBufferPointer) -> Void) throws(RequestFailure) {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 << 10, alignment: 4096)
        defer { buffer.deallocate() }
        while let count = read(into: buffer), count > 0 {
            take(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        }
        if let failure { throw RequestFailure(FailureText.message(failure, host: "", detail: "")) }
    }

    /// Reads so many bytes from the start, or all of a shorter body.
    func prefix(_ count: Int) throws(RequestFailure) -> [UInt8] {
        var bytes: [UInt8] = []
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: min(count, 64 << 10), alignment: 16)
        defer { buffer.deallocate() }
        while bytes.count < count {
            let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[..<min(buffer.count, count - bytes.count)])
            guard let done = read(into: rest), done > 0 else { break }
            bytes.append(contentsOf: rest[..<done])
        }
        if let failure { throw RequestFailure(FailureText.message(failure, host: "", detail: "")) }
        return bytes
    }

    /// Checks before anything is sent that each file is there, can be read and is long enough.
    func check() -> ExchangeFailure.Reason? {
        for case .gzip(let content) in segments {
            if let reason = BodyReader(content.source).check() { return reason }
        }
        for segment in segments {
            let (path, end): (String, Int64)
            switch segment {
            case .file(let file, let offset, let length): (path, end) = (file, offset + length)
            case .base64(let file, let fileSize): (path, end) = (file, fileSize)
            default: continue
            }
            guard access(path, R_OK) == 0 else { return .localRead(errno: errno, path: path) }
            var status = stat()
            guard stat(path, &status) == 0 else { return .localRead(errno: errno, path: path) }
            let isRegular = status.st_mode & S_IFMT == S_IFREG
            guard !isRegular || Int64(status.st_size) >= end else { return .sourceChanged(path: path) }
        }
        for case .lines(let path, _) in segments where access(path, R_OK) != 0 {
            return .localRead(errno: errno, path: path)
        }
        return nil
    }

    /// Fills the buffer as far as one segment goes; 0 at the end of the body, nil when ``failure`` is set.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int? {
        guard !buffer.isEmpty else { return 0 }
        while index < segments.count {
            let segment = segments[index]
            let left = segment.length - position
            guard left > 0 else {
                advance()
                continue
            }
            let count = Int(min(left, Int64(buffer.count)))
            guard let done = read(segment, count: count, into: buffer), check(segment, after: done) else { return nil }
            position += Int64(done)
            return done
        }
        return 0
    }

    /// Goes to a place from the start of the body: libcurl does so before it sends a body again.
    func seek(to offset: Int64) -> Bool {
        closeFile()
        index = 0
        position = offset
        while index < segments.count, position >= segments[index].length, position > 0 {
            position -= segments[index].length
            index += 1
        }
        return index < segments.count || position == 0
    }

    private func read(_ segment: BodySegment, count: Int, into buffer: UnsafeMutableRawBufferPointer) -> Int? {
        switch segment {
        case .bytes(let bytes):
            bytes.withUnsafeBytes { source in
                let piece = UnsafeRawBufferPointer(rebasing: source[Int(position)..<Int(position) + count])
                buffer.copyMemory(from: piece)
            }
            return count
        case .gzip(let content):
            return read(content, into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<count]))
        case .file(let path, let offset, _):
            guard openFile(path) else { return nil }
            var done: Int
            repeat {
                done = pread(descriptor, buffer.baseAddress!, count, off_t(offset + position))
            } while done < 0 && errno == EINTR
            if done > 0 { return done }
            failure = done == 0 ? .sourceChanged(path: path) : .localRead(errno: errno, path: path)
            return nil
        case .lines(let path, _): return readLines(of: path, count: count, into: buffer)
        case .base64(let path, let fileSize):
            guard openFile(path) else { return nil }
            let encoder = base64 ?? Base64File(fileSize: fileSize)
            base64 = encoder
            let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[..<count])
            let done = encoder.read(descriptor, from: position, into: rest)
            if let done, done > 0 { return done }
            failure = done == nil ? .localRead(errno: errno, path: path) : .sourceChanged(path: path)
            return nil
        }
    }

    /// The compressed bytes, from the current position on: after a seek what lies before is made once more.
    private func read(_ content: GzipContent, into buffer: UnsafeMutableRawBufferPointer) -> Int? {
        if gzip == nil {
            let stream = GzipStream(content.source)
            gzip = stream
            var skipped: Int64 = 0
            while skipped < position {
                let piece = UnsafeMutableRawBufferPointer(
                    rebasing: buffer[..<Int(min(Int64(buffer.count), position - skipped))])
                guard let done = stream.read(into: piece), done > 0 else { break }
                skipped += Int64(done)
            }
        }
        guard let gzip else { return nil }
        guard let done = gzip.read(into: buffer) else {
            failure = gzip.failure
            return nil
        }
        return done
    }

    /// A compressed source must give as many bytes as it gave when it was measured.
    private func check(_ segment: BodySegment, after done: Int) -> Bool {
        guard case .gzip(let content) = segment, let gzip else { return true }
        let isLast = position + Int64(done) == content.length
        if done > 0, isLast == (isLast ? gzip.hasEnded() : gzip.isFinished) { return true }
        failure = .sourceChanged(path: content.path)
        return false
    }

    private func readLines(of path: String, count: Int, into buffer: UnsafeMutableRawBufferPointer) -> Int? {
        do throws(RequestFailure) {
            if lines == nil {
                let joined = try JoinedLines(path)
                guard try joined.skip(position) else {
                    failure = .sourceChanged(path: path)
                    return nil
                }
                lines = joined
            }
            let done = try lines?.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<count])) ?? 0
            if done > 0 { return done }
            failure = .sourceChanged(path: path)
        } catch {
            failure = .localRead(errno: errno, path: path)
        }
        return nil
    }

    private func openFile(_ path: String) -> Bool {
        guard descriptor < 0 else { return true }
        descriptor = open(path, O_RDONLY | O_CLOEXEC)
        if descriptor >= 0, DescriptorBudget.allows(descriptor) { return true }
        failure = .localRead(errno: descriptor < 0 ? errno : EMFILE, path: path)
        if descriptor >= 0 { close(descriptor) }
        descriptor = -1
        return false
    }

    private func advance() {
        closeFile()
        index += 1
        position = 0
    }

    private func closeFile() {
        gzip = nil
        if descriptor >= 0 { close(descriptor) }
        descriptor = -1
        lines = nil
        base64 = nil
    }
}
