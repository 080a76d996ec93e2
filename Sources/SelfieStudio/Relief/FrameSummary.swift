/// The values that all frames have in common: the mean brightness of each pixel, and how often it stood out from the
/// background.
struct FrameSummary: Sendable {
    /// The distance that a pixel's brightness and colour together must have from the background's to belong to the
    /// silhouette.
    static let contrast = 20

    let width: Int
    let height: Int
    private let format: VideoFormat
    private(set) var frames = 0
    private var brightness: [UInt32]
    private var coverage: [UInt32]

    init(format: VideoFormat) {
        self.format = format
        width = format.width
        height = format.height
        brightness = Array(repeating: 0, count: format.lumaBytes)
        coverage = brightness
    }

    mutating func add(_ frame: VideoFrame) {
        let background = Self.background(of: frame.luma[...], width: width, height: height)
        let colours = colourDistances(in: frame)
        for row in 0..<height {
            for pixel in (row * width)..<((row + 1) * width) {
                let value = Int(frame.luma[pixel])
                brightness[pixel] &+= UInt32(value)
                var distance = abs(value - background)
                if let block = format.chromaBlock {
                    distance += colours[row / block.rows * format.chromaColumns + pixel % width / block.columns]
                }
                coverage[pixel] &+= distance > Self.contrast ? 1 : 0
            }
        }
        frames += 1
    }

    /// Returns how far each block's colour is from the background's.
    private func colourDistances(in frame: VideoFrame) -> [Int] {
        let (columns, rows) = (format.chromaColumns, format.chromaRows)
        var distances = [Int](repeating: 0, count: columns * rows)
        guard format.chromaBlock != nil else { return distances }
        for plane in 0..<2 {
            let samples = frame.chroma[(plane * columns * rows)..<((plane + 1) * columns * rows)]
            let background = Self.background(of: samples, width: columns, height: rows)
            for (place, sample) in samples.enumerated() { distances[place] += abs(Int(sample) - background) }
        }
        return distances
    }

    /// The share of the frames in which the pixel stood out.
    func coverage(of pixel: Int) -> Float {
        Float(coverage[pixel]) / Float(max(frames, 1))
    }

    /// Returns how far a frame is from the mean of all. The head that turns from side to side is nearest to it when it
    /// looks into the camera.
    func distance(of luma: [UInt8]) -> Int {
        var sum = 0
        // Every second row and third column is enough to tell poses apart.
        for row in stride(from: 0, to: height, by: 2) {
            for pixel in stride(from: row * width, to: (row + 1) * width, by: 3) {
                sum += abs(Int(brightness[pixel]) - Int(luma[pixel]) * frames)
            }
        }
        return sum
    }

    /// The median of a plane's border: a face is in the middle of a selfie. Shoulders are where the border is left out.
    private static func background(of plane: ArraySlice<UInt8>, width: Int, height: Int) -> Int {
        var histogram = [Int](repeating: 0, count: 256)
        for column in 0..<width { histogram[Int(plane[plane.startIndex + column])] += 1 }
        for row in 1..<max(2, height / 2) {
            histogram[Int(plane[plane.startIndex + row * width])] += 1
            histogram[Int(plane[plane.startIndex + row * width + width - 1])] += 1
        }
        let count = histogram.reduce(0, +)
        var seen = 0
        for value in 0..<256 {
            seen += histogram[value]
            if seen * 2 >= count { return value }
        }
        return 255
    }
}
