/// The reason why no mesh can be made from a video; its text becomes the `message` of the model.
enum VideoError: Error, Equatable, CustomStringConvertible {
    case unreadable(String)
    case notY4M
    case noDimensions
    case tooLarge(width: Int, height: Int)
    case tooSmall(width: Int, height: Int)
    case unsupportedColour(String)
    case noFrames
    case noFrameHeader(frame: Int)
    case truncated(frame: Int, bytes: Int, expected: Int)
    case nothingToSee(frames: Int)

    var description: String {
        switch self {
        case .unreadable(let reason):
            "the video can't be read: \(reason)"
        case .notY4M:
            "not a Y4M video: it does not begin with a YUV4MPEG2 line"
        case .noDimensions:
            "the Y4M header has no usable width (W) and height (H)"
        case .tooLarge(let width, let height):
            "the video is \(width)x\(height) pixels; at most \(VideoFormat.longestSide) a side are accepted"
        case .tooSmall(let width, let height):
            "the video is \(width)x\(height) pixels; at least \(VideoFormat.shortestSide) a side are needed"
        case .unsupportedColour(let colour):
            "the colour space \(colour) is not supported; mono, 411, 420, 422 and 444 with 8 bits are"
        case .noFrames:
            "the video has no frames"
        case .noFrameHeader(let frame):
            "no FRAME line where frame \(frame) should begin"
        case .truncated(let frame, let bytes, let expected):
            "the video is truncated: frame \(frame) has \(bytes) of \(expected) bytes"
        case .nothingToSee(let frames):
            "nothing stands out from the background in the \(frames) frames"
        }
    }
}
