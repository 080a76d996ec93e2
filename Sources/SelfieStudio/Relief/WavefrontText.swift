/// Writes a mesh as a Wavefront OBJ: vertices with their colours, texture coordinates, normals, triangles.
///
/// The colours after the coordinates of a vertex are an extension that Blender, MeshLab and others read. The same mesh
/// gives the same bytes: numbers are rounded to five decimals with integers, without a locale.
struct WavefrontText {
    /// Vertices and triangles that go into one piece of text.
    static let pieceLength = 1024

    let mesh: ReliefMesh
    let portrait: Picture

    /// The number of pieces; each can be written before the next is made.
    var pieces: Int { vertexPieces + trianglePieces }
    private var vertexPieces: Int { (mesh.vertices.count + Self.pieceLength - 1) / Self.pieceLength }
    private var trianglePieces: Int { (mesh.triangles.count / 3 + Self.pieceLength - 1) / Self.pieceLength }

    func piece(_ number: Int) -> [UInt8] {
        if number < vertexPieces {
            let start = number * Self.pieceLength
            return vertices(start..<min(start + Self.pieceLength, mesh.vertices.count))
        }
        let start = (number - vertexPieces) * Self.pieceLength
        return triangles(start..<min(start + Self.pieceLength, mesh.triangles.count / 3))
    }

    private func vertices(_ range: Range<Int>) -> [UInt8] {
        var text: [UInt8] = []
        for vertex in mesh.vertices[range] {
            let colour = portrait.colour(u: vertex.u, v: vertex.v)
            Self.append(
                "v", [vertex.x, vertex.y, vertex.z, colour.red / 255, colour.green / 255, colour.blue / 255],
                to: &text)
            Self.append("vt", [vertex.u, vertex.v], to: &text)
            Self.append("vn", [vertex.normal.x, vertex.normal.y, vertex.normal.z], to: &text)
        }
        return text
    }

    private func triangles(_ range: Range<Int>) -> [UInt8] {
        var text: [UInt8] = []
        for triangle in range {
            text.append(UInt8(ascii: "f"))
            for corner in 0..<3 {
                let number = mesh.triangles[3 * triangle + corner] + 1
                text += " \(number)/\(number)/\(number)".utf8
            }
            text.append(UInt8(ascii: "\n"))
        }
        return text
    }

    private static func append(_ key: String, _ numbers: [Float], to text: inout [UInt8]) {
        text += key.utf8
        for number in numbers {
            text.append(UInt8(ascii: " "))
            append(number, to: &text)
        }
        text.append(UInt8(ascii: "\n"))
    }

    private static func append(_ number: Float, to text: inout [UInt8]) {
        let scaled = Int((Double(number) * 100_000).rounded())
        if scaled < 0 { text.append(UInt8(ascii: "-")) }
        let (whole, fraction) = scaled.magnitude.quotientAndRemainder(dividingBy: 100_000)
        text += String(whole).utf8
        text.append(UInt8(ascii: "."))
        text += String(100_000 + fraction).utf8.dropFirst()
    }
}
