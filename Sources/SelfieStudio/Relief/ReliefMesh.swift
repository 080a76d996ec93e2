/// The surface of a height field: a vertex for each point of the silhouette, with its normal, its place in the portrait
/// and its colour, and the triangles between them.
///
/// One unit is half the picture's height; x points right, y up, z to the viewer.
struct ReliefMesh: Sendable {
    struct Vertex: Sendable {
        var x: Float
        var y: Float
        var z: Float
        /// The place in the portrait, 0 to 1, v upwards as in Wavefront files.
        var u: Float
        var v: Float
        /// Of length one.
        var normal: (x: Float, y: Float, z: Float) = (0, 0, 1)
    }

    private(set) var vertices: [Vertex] = []
    /// Three numbers of vertices each, counter-clockwise seen from the front.
    private(set) var triangles: [UInt32] = []

    init(_ field: HeightField) {
        let (columns, rows) = (field.columns, field.rows)
        var numbers = [Int](repeating: -1, count: columns * rows)
        for row in 0..<rows {
            for column in 0..<columns where field.silhouette.inside[row * columns + column] {
                numbers[row * columns + column] = vertices.count
                vertices.append(Self.vertex(of: field, row: row, column: column))
            }
        }
        for row in 0..<(rows - 1) {
            for column in 0..<(columns - 1) {
                let top = row * columns + column
                let bottom = top + columns
                addSquare(numbers[top], numbers[bottom], numbers[bottom + 1], numbers[top + 1])
            }
        }
        addNormals()
    }

    private static func vertex(of field: HeightField, row: Int, column: Int) -> Vertex {
        let offset = field.silhouette.offsetToOutline(row: row, column: column)
        let across = Float(column) + 0.5 + offset.right
        let down = Float(row) + 0.5 + offset.down
        let unit = 2 / Float(field.rows)
        return Vertex(
            x: (across - Float(field.columns) / 2) * unit, y: (Float(field.rows) / 2 - down) * unit,
            z: field.heights[row * field.columns + column] * unit, u: across / Float(field.columns),
            v: 1 - down / Float(field.rows))
    }

    /// Two triangles, or one where a corner is outside.
    private mutating func addSquare(_ corners: Int...) {
        let present = corners.filter { $0 >= 0 }
        guard present.count >= 3 else { return }
        triangles += [UInt32(present[0]), UInt32(present[1]), UInt32(present[2])]
        if present.count == 4 { triangles += [UInt32(present[0]), UInt32(present[2]), UInt32(present[3])] }
    }

    /// Each vertex's is the mean of its triangles', the larger counting more.
    private mutating func addNormals() {
        var sums = [(x: Float, y: Float, z: Float)](repeating: (0, 0, 0), count: vertices.count)
        for start in stride(from: 0, to: triangles.count, by: 3) {
            let corners = (Int(triangles[start]), Int(triangles[start + 1]), Int(triangles[start + 2]))
            let (a, b, c) = (vertices[corners.0], vertices[corners.1], vertices[corners.2])
            let (px, py, pz) = (b.x - a.x, b.y - a.y, b.z - a.z)
            let (qx, qy, qz) = (c.x - a.x, c.y - a.y, c.z - a.z)
            let (x, y, z) = (py * qz - pz * qy, pz * qx - px * qz, px * qy - py * qx)
            for corner in [corners.0, corners.1, corners.2] {
                sums[corner] = (sums[corner].x + x, sums[corner].y + y, sums[corner].z + z)
            }
        }
        for (number, sum) in sums.enumerated() {
            let length = (sum.x * sum.x + sum.y * sum.y + sum.z * sum.z).squareRoot()
            guard length > 0 else { continue }
            vertices[number].normal = (sum.x / length, sum.y / length, sum.z / length)
        }
    }
}
