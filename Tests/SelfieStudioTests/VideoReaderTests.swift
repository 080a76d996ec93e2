import Foundation
import Testing

@testable import SelfieStudio

@Suite("Y4M videos")
struct VideoReaderTests {
    @Test("The fixture has 36 frames of 120x160")
    func fixture() throws {
        let reader = try VideoReader(path: Selfie.path)
        #expect(reader.format.width == 120)
        #expect(reader.format.height == 160)
        while let frame = try reader.nextFrame() { #expect(frame.luma.count == 120 * 160) }
        #expect(reader.frames == 36)
        #expect(reader.offset == reader.size)
    }

    @Test(
        "Colour planes are skipped by the size of their kind",
        arguments: [
            ("mono", 0), ("420jpeg", 2 * 5 * 5), ("420", 50), ("422", 90), ("444", 162), ("444alpha", 243), ("411", 54),
        ]
    )
    func chroma(colour: String, bytes: Int) throws {
        #expect(try VideoFormat(header: "YUV4MPEG2 W9 H9 F24:1 C\(colour)").chromaBytes == bytes)
    }

    @Test(
        "What can't be read is refused with a reason",
        arguments: [
            ("", VideoError.notY4M),
            ("\u{1}RIFF and so on\n", .notY4M),
            ("YUV4MPEG2 W16 H16 without an end", .notY4M),
            ("YUV4MPEG2 F24:1\n", .noDimensions),
            ("YUV4MPEG2 W-1 H16\n", .noDimensions),
            ("YUV4MPEG2 W99999999 H16\n", .tooLarge(width: 99_999_999, height: 16)),
            ("YUV4MPEG2 W4 H16\n", .tooSmall(width: 4, height: 16)),
            ("YUV4MPEG2 W16 H16 C420p10\n", .unsupportedColour("420p10")),
            ("YUV4MPEG2 W16 H16 Cmono\n", .noFrames),
            ("YUV4MPEG2 W16 H16 Cmono\nPICTURE\n", .noFrameHeader(frame: 1)),
            ("YUV4MPEG2 W16 H16 Cmono\nFRAME\nxxx", .truncated(frame: 1, bytes: 3, expected: 256)),
        ]
    )
    func refusals(text: String, expected: VideoError) async throws {
        try await withFolder { folder in
            let path = "\(folder)/video.y4m"
            try Data(text.utf8).write(to: URL(filePath: path))
            #expect(throws: expected) {
                let reader = try VideoReader(path: path)
                while try reader.nextFrame() != nil {}
            }
        }
    }

    @Test("A video in which nothing stands out has no mesh")
    func blank() throws {
        var summary = FrameSummary(format: try VideoFormat(header: "YUV4MPEG2 W32 H32 Cmono"))
        summary.add(VideoFrame(luma: [UInt8](repeating: 90, count: 32 * 32), chroma: []))
        let blank = summary
        #expect(throws: VideoError.nothingToSee(frames: 1)) { try Silhouette(blank, quality: .full) }
    }

    @Test("A file that is not there is an error, not a crash")
    func missing() {
        #expect(throws: VideoError.self) { try VideoReader(path: "/nowhere/video.y4m") }
    }
}
