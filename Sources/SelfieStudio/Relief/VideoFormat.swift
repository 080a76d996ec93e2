/// What the first line of a Y4M stream says about its frames.
///
/// Source: the YUV4MPEG2 format as mjpegtools' `yuv4mpeg(5)` describes it. Eight bits a sample only.
struct VideoFormat: Equatable, Sendable {
    /// The longest side accepted, in pixels: the sums of a larger picture would cost too much memory.
    static let longestSide = 4096
    /// The shortest side accepted: a smaller picture has no inside.
    static let shortestSide = 8

    var width: Int
    var height: Int
    /// Bytes of the colour planes of one frame, which the relief does not need.
    var chromaBytes: Int

    var lumaBytes: Int { width * height }

    /// Reads a header line, given without its line feed.
    init(header: String) throws(VideoError) {
        let words = header.split(separator: " ")
        guard words.first == "YUV4MPEG2" else { throw .notY4M }
        var width: Int?
        var height: Int?
        var colour = "420jpeg"
        for word in words.dropFirst() {
            switch word.first {
            case "W": width = Int(word.dropFirst())
            case "H": height = Int(word.dropFirst())
            case "C": colour = String(word.dropFirst())
            default: break
            }
        }
        guard let width, let height, width > 0, height > 0 else { throw .noDimensions }
        guard max(width, height) <= Self.longestSide else { throw .tooLarge(width: width, height: height) }
        guard min(width, height) >= Self.shortestSide else { throw .tooSmall(width: width, height: height) }
        self.width = width
        self.height = height
        chromaBytes = try Self.chromaBytes(of: colour, width: width, height: height)
    }

    private static func chromaBytes(of colour: String, width: Int, height: Int) throws(VideoError) -> Int {
        let halfWidth = (width + 1) / 2
        let halfHeight = (height + 1) / 2
        switch colour {
        case "mono": return 0
        case "420", "420jpeg", "420mpeg2", "420paldv": return 2 * halfWidth * halfHeight
        case "411": return 2 * ((width + 3) / 4) * height
        case "422": return 2 * halfWidth * height
        case "444": return 2 * width * height
        case "444alpha": return 3 * width * height
        default: throw .unsupportedColour(colour)
        }
    }
}
