/// Blows a silhouette up like a balloon: solves Poisson's equation in it, 0 on the outline. A disc becomes a half
/// sphere, an ellipse half an ellipsoid, and no ridge stands anywhere.
///
/// Coarse grids first, each the start for one twice as fine: the number of steps is in proportion to the points.
enum Inflation {
    private static let sweeps = 12

    /// The heights in grid steps, 0 outside. The lower border of the picture does not count as outline: it cuts
    /// shoulders off.
    static func heights(of inside: [Bool], _ grid: Grid) -> [Float] {
        solution(inside, grid).map { 2 * max(0, $0).squareRoot() }
    }

    /// u with -Δu = 1 inside, so (R² - r²) / 4 in a disc of radius R.
    private static func solution(_ inside: [Bool], _ grid: Grid) -> [Float] {
        var values = [Float](repeating: 0, count: inside.count)
        if min(grid.columns, grid.rows) > 8 {
            let coarse = Grid(columns: (grid.columns + 1) / 2, rows: (grid.rows + 1) / 2)
            var halved = [Bool](repeating: false, count: coarse.columns * coarse.rows)
            for row in 0..<coarse.rows {
                for column in 0..<coarse.columns {
                    halved[row * coarse.columns + column] = inside[2 * row * grid.columns + 2 * column]
                }
            }
            let rough = solution(halved, coarse)
            for row in 0..<grid.rows {
                for column in 0..<grid.columns where inside[row * grid.columns + column] {
                    // A step of the coarse grid is two of this one, and u grows with its square.
                    values[row * grid.columns + column] = 4 * rough[row / 2 * coarse.columns + column / 2]
                }
            }
        }
        relax(&values, inside, grid, sweeps: grid.columns > 16 ? sweeps : 200)
        return values
    }

    /// Gauss-Seidel with over-relaxation.
    private static func relax(_ values: inout [Float], _ inside: [Bool], _ grid: Grid, sweeps: Int) {
        let columns = grid.columns
        let points = inside.indices.filter { inside[$0] }
        values.withUnsafeMutableBufferPointer { values in
            for _ in 0..<sweeps {
                for point in points {
                    let column = point % columns
                    var sum: Float = 1
                    if column > 0 { sum += values[point - 1] }
                    if column < columns - 1 { sum += values[point + 1] }
                    if point >= columns { sum += values[point - columns] }
                    sum += values[point + columns < values.count ? point + columns : point]
                    values[point] += 1.5 * (sum / 4 - values[point])
                }
            }
        }
    }
}
