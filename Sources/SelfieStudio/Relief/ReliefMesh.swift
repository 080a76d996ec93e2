/// Writes a height field as a Wavefront OBJ: vertices, texture coordinates, normals, triangles.
///
/// The same field gives the same bytes: numbers are rounded to five decimals with integers, without a locale.
struct ReliefMesh {
    let field: HeightField
    /// The number of each point's vertex, from 1; 0 is no vertex.
    private let numbers: [Int]
    let vertexCount: Int

    init(_ field: HeightField) {
        self.field = field
        var numbers = [Int](repeating: 0, count: field.inside.count)
        var next = 0
        for point in field.inside.indices where field.inside[point] {
            next += 1
            numbers[point] = next
        }
        self.numbers = numbers
        vertexCount = next
    }

    /// The lines of all vertices of a row; one unit is half the picture's height, y points up, z to the viewer.
    func vertices(row: Int) -> [UInt8] {
        var text: [UInt8] = []
        let unit = 2 / Float(field.rows)
        for column in 0..<field.columns where field.inside[row * field.columns + column] {
            let x = (Float(column) + 0.5 - Float(field.columns) / 2) * unit
            let y = (Float(field.rows) / 2 - Float(row) - 0.5) * unit
            Self.append("v", [x, y, field.height(row: row, column: column) * unit], to: &text)
            let u = (Float(column) + 0.5) / Float(field.columns)
            Self.append("vt", [u, 1 - (Float(row) + 0.5) / Float(field.rows)], to: &text)
            Self.append("vn", normal(row: row, column: column), to: &text)
        }
        return text
    }

    /// The triangles between a row and the next, counter-clockwise seen from the front.
    func faces(row: Int) -> [UInt8] {
        guard row + 1 < field.rows else { return [] }
        var text: [UInt8] = []
        for column in 0..<(field.columns - 1) {
            let top = row * field.columns + column
            let bottom = top + field.columns
            let corners = [numbers[top], numbers[bottom], numbers[bottom + 1], numbers[top + 1]]
            guard !corners.contains(0) else { continue }
            Self.append(face: corners[0], corners[1], corners[2], to: &text)
            Self.append(face: corners[0], corners[2], corners[3], to: &text)
        }
        return text
    }

    /// Across the slope that the four neighbours make.
    private func normal(row: Int, column: Int) -> [Float] {
        let right = field.height(row: row, column: column + 1) - field.height(row: row, column: column - 1)
        let down = field.height(row: row + 1, column: column) - field.height(row: row - 1, column: column)
        let length = (right * right + down * down + 4).squareRoot()
        return [-right / length, down / length, 2 / length]
    }

    private static func append(_ key: String, _ numbers: [Float], to text: inout [UInt8]) {
        text += key.utf8
        for number in numbers {
            text.append(UInt8(ascii: " "))
            append(number, to: &text)
        }
        text.append(UInt8(ascii: "\n"))
    }

    private static func append(face first: Int, _ second: Int, _ third: Int, to text: inout [UInt8]) {
        text += "f \(first)/\(first)/\(first) \(second)/\(second)/\(second) \(third)/\(third)/\(third)\n".utf8
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
