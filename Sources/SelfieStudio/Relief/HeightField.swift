/// A grid of heights over the silhouette: it is blown up like a balloon, with the brightness as detail.
struct HeightField: Sendable {
    /// The share of the depth that brightness makes: shading is only a weak sign of shape.
    private static let detail: Float = 0.16
    /// Faces are flatter than balloons.
    private static let depth: Float = 0.8

    let silhouette: Silhouette
    /// In grid steps, 0 outside.
    private(set) var heights: [Float]

    var columns: Int { silhouette.columns }
    var rows: Int { silhouette.rows }

    /// - Parameter portrait: the frame whose brightness gives the detail.
    init(_ silhouette: Silhouette, portrait: Picture) {
        self.silhouette = silhouette
        let grid = Grid(columns: silhouette.columns, rows: silhouette.rows)
        let inside = silhouette.inside
        heights = Inflation.heights(of: inside, grid)
        let highest = max(heights.max() ?? 1, 1)
        let relief = Self.detail(of: portrait, in: inside, grid, reach: highest)
        for point in inside.indices where inside[point] {
            // Towards the outline the detail fades: the surface turns away there.
            let facing = min(1, heights[point] / highest * 1.6)
            heights[point] = max(0, Self.depth * heights[point] + Self.detail * highest * relief[point] * facing)
        }
        var softened = heights
        for _ in 0..<2 { grid.blur(&softened, radius: 1) }
        for point in inside.indices where inside[point] { heights[point] = softened[point] }
    }

    /// Returns how much brighter each point is than its surroundings, from -1 to 1.
    private static func detail(of portrait: Picture, in inside: [Bool], _ grid: Grid, reach: Float) -> [Float] {
        let cell = portrait.width / grid.columns
        var light = grid.averages(of: portrait.width, cell: cell) { pixel in
            let place = pixel * 3
            return 0.3 * Float(portrait.bytes[place]) + 0.6 * Float(portrait.bytes[place + 1])
                + 0.1 * Float(portrait.bytes[place + 2])
        }
        // Outside the mean stands, so that the background makes no edge.
        let points = inside.indices.filter { inside[$0] }
        let mean = points.reduce(Float(0)) { $0 + light[$1] } / Float(max(points.count, 1))
        for point in inside.indices where !inside[point] { light[point] = mean }
        var fine = light
        var coarse = light
        for _ in 0..<2 {
            grid.blur(&fine, radius: max(1, Int(reach / 40)))
            grid.blur(&coarse, radius: max(2, Int(reach / 5)))
        }
        return zip(fine, coarse).map { max(-1, min(1, ($0 - $1) / 80)) }
    }
}
