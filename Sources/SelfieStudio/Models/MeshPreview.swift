/// A picture of a mesh, seen a little from the side and lit from the upper left, with the portrait's colours.
struct MeshPreview {
    /// The angle by which the head is turned, in radians.
    private static let turn: Float = -0.42
    private static let tilt: Float = 0.10
    private static let light: (x: Float, y: Float, z: Float) = (-0.45, 0.45, 0.77)

    /// A corner of a triangle on the picture.
    private struct Corner {
        /// In pixels.
        var x: Float
        var y: Float
        /// Towards the viewer.
        var depth: Float
        var light: Float
        var u: Float
        var v: Float
    }

    private let mesh: ReliefMesh
    private let portrait: Picture
    /// In pixels that are drawn: twice as fine as the picture, so that edges are smooth.
    private let width: Int
    private let height: Int
    private let corners: [Corner]

    /// - Parameter height: in pixels; the width is in proportion to the portrait's.
    init(_ mesh: ReliefMesh, portrait: Picture, height: Int) {
        self.mesh = mesh
        self.portrait = portrait
        self.height = 2 * height
        width = 2 * max(1, height * portrait.width / portrait.height)
        let scale = Float(self.height) / 2 * 0.96
        let (turnSine, turnCosine) = Self.sineAndCosine(Self.turn)
        let (tiltSine, tiltCosine) = Self.sineAndCosine(Self.tilt)
        func rotated(_ x: Float, _ y: Float, _ z: Float) -> (x: Float, y: Float, z: Float) {
            let (side, front) = (x * turnCosine + z * turnSine, z * turnCosine - x * turnSine)
            return (side, y * tiltCosine - front * tiltSine, front * tiltCosine + y * tiltSine)
        }
        // Turned about an axis inside the head, not about the plane behind it.
        let axis = (mesh.vertices.map(\.z).max() ?? 0) * 0.45
        let middle = (Float(width) / 2, Float(self.height) / 2)
        corners = mesh.vertices.map { vertex in
            let place = rotated(vertex.x, vertex.y, vertex.z - axis)
            let normal = rotated(vertex.normal.x, vertex.normal.y, vertex.normal.z)
            let facing = normal.x * Self.light.x + normal.y * Self.light.y + normal.z * Self.light.z
            return Corner(
                x: middle.0 + place.x * scale, y: middle.1 - place.y * scale, depth: place.z,
                light: 0.55 + 0.60 * max(0, facing), u: vertex.u, v: vertex.v)
        }
    }

    /// The picture; every call gives the same.
    func draw() -> Picture {
        var picture = backdrop()
        var nearest = [Float](repeating: -.infinity, count: width * height)
        for start in stride(from: 0, to: mesh.triangles.count, by: 3) {
            draw(
                corners[Int(mesh.triangles[start])], corners[Int(mesh.triangles[start + 1])],
                corners[Int(mesh.triangles[start + 2])], on: &picture, &nearest)
        }
        return picture.shrunk(width: width / 2, height: height / 2)
    }

    /// A wall that is lighter behind the head.
    private func backdrop() -> Picture {
        var picture = Picture(width: width, height: height)
        for row in 0..<height {
            let down = (Float(row) / Float(height) - 0.45) * 1.6
            for column in 0..<width {
                let across = (Float(column) / Float(width) - 0.5) * 1.4
                let shade = max(0, 1 - across * across - down * down)
                picture.set(column, row, red: 22 + 34 * shade, green: 24 + 38 * shade, blue: 32 + 50 * shade)
            }
        }
        return picture
    }

    /// Fills the pixels whose middles lie in the triangle and that nothing nearer has.
    private func draw(_ a: Corner, _ b: Corner, _ c: Corner, on picture: inout Picture, _ nearest: inout [Float]) {
        let area = (b.x - a.x) * (c.y - a.y) - (c.x - a.x) * (b.y - a.y)
        // Seen from the front they run clockwise here, where y goes down; the others are seen from behind.
        guard area < 0 else { return }
        let left = max(0, Int(min(a.x, b.x, c.x) - 0.5))
        let right = min(width - 1, Int(max(a.x, b.x, c.x) + 0.5))
        let top = max(0, Int(min(a.y, b.y, c.y) - 0.5))
        let bottom = min(height - 1, Int(max(a.y, b.y, c.y) + 0.5))
        guard left <= right, top <= bottom else { return }
        for row in top...bottom {
            let y = Float(row) + 0.5
            for column in left...right {
                let x = Float(column) + 0.5
                let ofA = ((b.x - x) * (c.y - y) - (c.x - x) * (b.y - y)) / area
                let ofB = ((c.x - x) * (a.y - y) - (a.x - x) * (c.y - y)) / area
                let ofC = 1 - ofA - ofB
                guard ofA >= 0, ofB >= 0, ofC >= 0 else { continue }
                let depth = ofA * a.depth + ofB * b.depth + ofC * c.depth
                guard depth > nearest[row * width + column] else { continue }
                nearest[row * width + column] = depth
                let light = ofA * a.light + ofB * b.light + ofC * c.light
                let colour = portrait.colour(
                    u: ofA * a.u + ofB * b.u + ofC * c.u, v: ofA * a.v + ofB * b.v + ofC * c.v)
                picture.set(
                    column, row, red: colour.red * light, green: colour.green * light, blue: colour.blue * light)
            }
        }
    }

    /// By their series, so that no mathematics library decides the last digit; for angles below one.
    private static func sineAndCosine(_ angle: Float) -> (sine: Float, cosine: Float) {
        let square = angle * angle
        return (
            angle * (1 - square / 6 * (1 - square / 20 * (1 - square / 42))),
            1 - square / 2 * (1 - square / 12 * (1 - square / 30))
        )
    }
}
