/// What all frames have in common: the mean brightness of each pixel, and how often it stood out from the background.
struct FrameSummary: Sendable {
    /// How far a pixel's brightness must be from the background's to belong to the silhouette.
    static let contrast = 20

    let width: Int
    let height: Int
    private(set) var frames = 0
    private var brightness: [UInt32]
    private var coverage: [UInt32]

    init(format: VideoFormat) {
        width = format.width
        height = format.height
        brightness = Array(repeating: 0, count: format.lumaBytes)
        coverage = brightness
    }

    mutating func add(_ luma: [UInt8]) {
        let background = background(of: luma)
        for pixel in luma.indices {
            let value = Int(luma[pixel])
            brightness[pixel] &+= UInt32(value)
            coverage[pixel] &+= abs(value - background) > Self.contrast ? 1 : 0
        }
        frames += 1
    }

    /// The mean over all frames, 0 to 255.
    func meanBrightness(at pixel: Int) -> Float {
        Float(brightness[pixel]) / Float(max(frames, 1))
    }

    /// Whether the pixel stood out in most frames: the median of the silhouettes.
    func isInside(_ pixel: Int) -> Bool {
        Int(coverage[pixel]) * 2 > frames
    }

    /// The median brightness of the border: a face is in the middle of a selfie.
    private func background(of luma: [UInt8]) -> Int {
        var histogram = [Int](repeating: 0, count: 256)
        var count = 0
        func take(_ pixel: Int) {
            histogram[Int(luma[pixel])] += 1
            count += 1
        }
        for column in 0..<width {
            take(column)
            take((height - 1) * width + column)
        }
        for row in 1..<(height - 1) {
            take(row * width)
            take(row * width + width - 1)
        }
        var seen = 0
        for value in 0..<256 {
            seen += histogram[value]
            if seen * 2 >= count { return value }
        }
        return 255
    }
}
