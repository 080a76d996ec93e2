/// Reads a Y4M file frame by frame; one frame is in memory at a time.
///
/// Not Sendable: one computation owns it. The file is held open, so that a video replaced meanwhile changes nothing.
final class VideoReader {
    let format: VideoFormat
    /// Frames read so far.
    private(set) var frames = 0
    /// The bytes of the whole file and those already read.
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

    /// The next frame, or nil after the last one.
    func nextFrame() throws(VideoError) -> VideoFrame? {
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
        let planes = try Self.bytes(in: file, at: offset + length, count: expected)
        guard planes.count == expected else {
            throw .truncated(frame: frames + 1, bytes: planes.count, expected: expected)
        }
        frames += 1
        offset += length + expected
        return VideoFrame(
            luma: Array(planes[..<format.lumaBytes]), chroma: Array(planes[format.lumaBytes...]))
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
