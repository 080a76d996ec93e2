/// The format of a Y4M stream's frames, by its first line.
///
/// Source: the YUV4MPEG2 format as mjpegtools' `yuv4mpeg(5)` describes it. Eight bits a sample only.
struct VideoFormat: Sendable {
    /// The longest side accepted, in pixels: the sums of a larger picture would cost too much memory.
    static let longestSide = 4096
    /// The shortest side accepted: a smaller picture has no inside.
    static let shortestSide = 8

    var width: Int
    var height: Int
    /// The pixels that share a colour, across and down; nil without colours.
    private(set) var chromaBlock: (columns: Int, rows: Int)?
    private var hasTransparency = false

    var lumaBytes: Int { width * height }
    /// The size of a plane of colours, in samples; 0 without colours.
    var chromaColumns: Int { chromaBlock.map { (width + $0.columns - 1) / $0.columns } ?? 0 }
    var chromaRows: Int { chromaBlock.map { (height + $0.rows - 1) / $0.rows } ?? 0 }

    /// Bytes of the planes of one frame that follow its brightness: two of colour, and one of transparency.
    var chromaBytes: Int { (hasTransparency ? 3 : 2) * chromaColumns * chromaRows }

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
        chromaBlock = try Self.chromaBlock(of: colour)
        hasTransparency = colour == "444alpha"
    }

    private static func chromaBlock(of colour: String) throws(VideoError) -> (columns: Int, rows: Int)? {
        switch colour {
        case "mono": return nil
        case "420", "420jpeg", "420mpeg2", "420paldv": return (2, 2)
        case "411": return (4, 1)
        case "422": return (2, 1)
        case "444", "444alpha": return (1, 1)
        default: throw .unsupportedColour(colour)
        }
    }
}
