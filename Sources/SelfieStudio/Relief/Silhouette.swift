/// Which points of a grid belong to the person, and where between the points the outline runs.
struct Silhouette: Sendable {
    /// The finest grid's longest side, in points; a larger picture is averaged down to it.
    static let finestSide = 512

    let columns: Int
    let rows: Int
    /// The certainty with which each point belongs to it, 0 to 1; the outline is where this is one half.
    private let coverage: [Float]
    /// One piece without holes.
    private(set) var inside: [Bool]

    init(_ summary: FrameSummary, quality: ModelQuality) throws(VideoError) {
        let finest = (max(summary.width, summary.height) + Self.finestSide - 1) / Self.finestSide
        let cell = quality == .full ? finest : finest * 2
        columns = summary.width / cell
        rows = summary.height / cell
        let grid = Grid(columns: columns, rows: rows)
        var coverage = grid.averages(of: summary.width, cell: cell) { summary.coverage(of: $0) }
        for _ in 0..<3 { grid.blur(&coverage, radius: 1) }
        self.coverage = coverage
        inside = grid.largestPiece(of: coverage.map { $0 > 0.5 })
        guard inside.count(where: \.self) * 100 >= inside.count else {
            throw .nothingToSee(frames: summary.frames)
        }
    }

    /// Returns whether a point and all its eight neighbours belong to it.
    func isWellInside(row: Int, column: Int) -> Bool {
        guard row > 0, row < rows - 1, column > 0, column < columns - 1 else { return false }
        return (-1...1).allSatisfy { down in
            let point = (row + down) * columns + column
            return inside[point - 1] && inside[point] && inside[point + 1]
        }
    }

    /// Returns how far the outline is from a point next to it, in grid steps to the right and down; 0 for all others.
    func offsetToOutline(row: Int, column: Int) -> (right: Float, down: Float) {
        let point = row * columns + column
        guard row > 0, row < rows - 1, column > 0, column < columns - 1,
            !(inside[point - 1] && inside[point + 1] && inside[point - columns] && inside[point + columns])
        else { return (0, 0) }
        let right = (coverage[point + 1] - coverage[point - 1]) / 2
        let down = (coverage[point + columns] - coverage[point - columns]) / 2
        let square = right * right + down * down
        let rest = coverage[point] - 0.5
        guard square > 0.0001, rest > 0 else { return (0, 0) }
        // A step down the slope to one half, of half a grid step at most.
        let length = min(rest / square.squareRoot(), 0.5) / square.squareRoot()
        return (-right * length, -down * length)
    }
}
