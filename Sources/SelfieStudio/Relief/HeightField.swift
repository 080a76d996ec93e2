/// A grid of heights over the silhouette: a dome as deep as the silhouette is wide, with the brightness as detail.
struct HeightField: Sendable {
    /// The finest grid's longest side, in points; a larger picture is averaged down to it.
    static let finestSide = 512
    /// The share of the depth that brightness makes: shading is only a weak sign of shape.
    private static let detail: Float = 0.18
    private static let smoothingPasses = 3

    let columns: Int
    let rows: Int
    /// Whether a point belongs to the relief.
    private(set) var inside: [Bool]
    /// In grid steps, 0 outside.
    private(set) var heights: [Float]

    init(_ summary: FrameSummary, quality: ModelQuality) throws(VideoError) {
        let finest = (max(summary.width, summary.height) + Self.finestSide - 1) / Self.finestSide
        let cell = quality == .full ? finest : finest * 2
        columns = summary.width / cell
        rows = summary.height / cell
        inside = Array(repeating: false, count: columns * rows)
        heights = Array(repeating: 0, count: columns * rows)
        var brightness = heights
        for row in 0..<rows {
            for column in 0..<columns {
                let (light, covered) = Self.average(of: summary, cell: cell, row: row, column: column)
                brightness[row * columns + column] = light
                inside[row * columns + column] = covered
            }
        }
        guard inside.count(where: \.self) * 100 >= inside.count else {
            throw .nothingToSee(frames: summary.frames)
        }
        raise(brightness)
        for _ in 0..<Self.smoothingPasses { smooth() }
    }

    /// The height at a point, 0 outside the relief and beyond the grid.
    func height(row: Int, column: Int) -> Float {
        guard row >= 0, row < rows, column >= 0, column < columns else { return 0 }
        return heights[row * columns + column]
    }

    private static func average(
        of summary: FrameSummary, cell: Int, row: Int, column: Int
    ) -> (light: Float, covered: Bool) {
        var light: Float = 0
        var covered = 0
        for y in (row * cell)..<((row + 1) * cell) {
            for x in (column * cell)..<((column + 1) * cell) {
                light += summary.meanBrightness(at: y * summary.width + x)
                covered += summary.isInside(y * summary.width + x) ? 1 : 0
            }
        }
        return (light / Float(cell * cell), covered * 2 > cell * cell)
    }

    /// Blows the silhouette up to a dome and adds the brightness.
    private mutating func raise(_ brightness: [Float]) {
        let distances = distancesToEdge()
        let radius = max(distances.max() ?? 1, 1)
        let points = inside.indices.filter { inside[$0] }
        let mean = points.reduce(Float(0)) { $0 + brightness[$1] } / Float(points.count)
        for point in points {
            let depth = radius - distances[point]
            let dome = (radius * radius - depth * depth).squareRoot()
            heights[point] = max(0, dome + Self.detail * radius * (brightness[point] - mean) / 128)
        }
    }

    /// How far each point is from the outside, in grid steps; the chamfer transform with weights 3 and 4
    /// (G. Borgefors, "Distance transformations in digital images", 1986).
    private func distancesToEdge() -> [Float] {
        var distances = inside.map { $0 ? Int32.max / 2 : 0 }
        func relax(_ row: Int, _ column: Int, _ neighbours: [(Int, Int, Int32)]) {
            let point = row * columns + column
            for (down, right, weight) in neighbours {
                let (y, x) = (row + down, column + right)
                let beyond = y < 0 || y >= rows || x < 0 || x >= columns
                distances[point] = min(distances[point], (beyond ? 0 : distances[y * columns + x]) + weight)
            }
        }
        for row in 0..<rows {
            for column in 0..<columns where inside[row * columns + column] {
                relax(row, column, [(0, -1, 3), (-1, 0, 3), (-1, -1, 4), (-1, 1, 4)])
            }
        }
        for row in (0..<rows).reversed() {
            for column in (0..<columns).reversed() where inside[row * columns + column] {
                relax(row, column, [(0, 1, 3), (1, 0, 3), (1, 1, 4), (1, -1, 4)])
            }
        }
        return distances.map { Float($0) / 3 }
    }

    /// Replaces each height by the mean of its neighbourhood of 3 x 3.
    private mutating func smooth() {
        var smoothed = heights
        for row in 0..<rows {
            for column in 0..<columns where inside[row * columns + column] {
                var sum: Float = 0
                for y in (row - 1)...(row + 1) {
                    for x in (column - 1)...(column + 1) { sum += height(row: y, column: x) }
                }
                smoothed[row * columns + column] = sum / 9
            }
        }
        heights = smoothed
    }
}
