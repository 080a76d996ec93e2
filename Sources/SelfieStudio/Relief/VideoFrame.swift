/// One frame of a video: its planes, row by row.
struct VideoFrame: Sendable {
    /// A byte for each pixel.
    var luma: [UInt8]
    /// The plane of blue differences, that of red ones, and that of transparency if there is one.
    var chroma: [UInt8]

    /// The frame in red, green and blue: ITU-R BT.601, 16 to 235 for brightness.
    func picture(_ format: VideoFormat) -> Picture {
        var picture = Picture(width: format.width, height: format.height)
        let block = format.chromaBlock
        let plane = format.chromaColumns * format.chromaRows
        for row in 0..<format.height {
            for column in 0..<format.width {
                let light = 1.164 * (Float(luma[row * format.width + column]) - 16)
                var (blue, red) = (Float(0), Float(0))
                if let block {
                    let place = row / block.rows * format.chromaColumns + column / block.columns
                    blue = Float(chroma[place]) - 128
                    red = Float(chroma[plane + place]) - 128
                }
                picture.set(
                    column, row, red: light + 1.596 * red, green: light - 0.392 * blue - 0.813 * red,
                    blue: light + 2.017 * blue)
            }
        }
        return picture
    }
}
