/// Reads a Y4M file frame by frame; one frame is in memory at a time.
///
/// Not Sendable: one computation owns it. The file is held open, so that a video replaced meanwhile changes nothing.
final class VideoReader {
    let format: VideoFormat
    /// Frames read so far.
    private(set) var frames = 0
    /// The bytes of the whole file and those behind the reader: what share is read.
    let size: Int
    private(set) var offset: Int

    private let file: DiskFile

    init(path: String) throws(VideoError) {
        do {
            file = try DiskFile(reading: path)
            size = try file.size()
        } catch {
            throw .unreadable(error.description)
        }
        let (header, length) = try Self.line(in: file, at: 0, limit: 1024) ?? ("", 0)
        format = try VideoFormat(header: header)
        offset = length
    }

    /// The brightness of the next frame, row by row, or nil after the last one.
    func nextFrame() throws(VideoError) -> [UInt8]? {
        guard offset < size else {
            guard frames > 0 else { throw .noFrames }
            return nil
        }
        guard let (header, length) = try Self.line(in: file, at: offset, limit: 256), header.hasPrefix("FRAME") else {
            throw .noFrameHeader(frame: frames + 1)
        }
        let expected = format.lumaBytes + format.chromaBytes
        let present = size - offset - length
        guard present >= expected else { throw .truncated(frame: frames + 1, bytes: present, expected: expected) }
        let luma = try Self.bytes(in: file, at: offset + length, count: format.lumaBytes)
        guard luma.count == format.lumaBytes else {
            throw .truncated(frame: frames + 1, bytes: luma.count, expected: expected)
        }
        frames += 1
        offset += length + expected
        return luma
    }

    /// A line without its line feed, and its length with it.
    private static func line(
        in file: DiskFile, at offset: Int, limit: Int
    ) throws(VideoError) -> (text: String, length: Int)? {
        let start = try bytes(in: file, at: offset, count: limit)
        guard let end = start.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
        return (String(decoding: start[..<end], as: UTF8.self), end + 1)
    }

    private static func bytes(in file: DiskFile, at offset: Int, count: Int) throws(VideoError) -> [UInt8] {
        do {
            return try file.read(at: offset, count: count)
        } catch {
            throw .unreadable(error.description)
        }
    }
}
