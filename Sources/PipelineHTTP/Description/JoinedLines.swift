/// The lines of a file with commas between them, as they are sent: any number of lines in the space of one.
final class JoinedLines {
    private let lines: LineReader
    private var line: ArraySlice<UInt8> = []
    private var isFirst = true

    init(_ path: String) throws(RequestFailure) { lines = try LineReader(path) }

    /// Fills the buffer as far as it goes; 0 at the end.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws(RequestFailure) -> Int {
        var done = 0
        while done < buffer.count {
            if line.isEmpty {
                guard let next = try lines.next() else { break }
                line = (isFirst ? next : [UInt8(ascii: ",")] + next)[...]
                isFirst = false
            }
            let count = min(line.count, buffer.count - done)
            line.withUnsafeBytes { source in
                UnsafeMutableRawBufferPointer(rebasing: buffer[done...])
                    .copyMemory(from: UnsafeRawBufferPointer(rebasing: source[..<count]))
            }
            line = line.dropFirst(count)
            done += count
        }
        return done
    }

    /// Passes over bytes; false when there are fewer.
    func skip(_ count: Int64) throws(RequestFailure) -> Bool {
        let space = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)
        defer { space.deallocate() }
        var left = count
        while left > 0 {
            let piece = UnsafeMutableRawBufferPointer(rebasing: space[..<Int(min(left, Int64(space.count)))])
            let done = try read(into: piece)
            guard done > 0 else { return false }
            left -= Int64(done)
        }
        return true
    }
}
