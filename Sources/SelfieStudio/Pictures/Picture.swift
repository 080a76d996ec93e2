/// A picture in red, green and blue, eight bits each, row by row.
struct Picture: Equatable, Sendable {
    let width: Int
    let height: Int
    /// Three bytes a pixel.
    var bytes: [UInt8]

    /// A black one.
    init(width: Int, height: Int) {
        self.init(width: width, height: height, bytes: Array(repeating: 0, count: width * height * 3))
    }

    init(width: Int, height: Int, bytes: [UInt8]) {
        self.width = width
        self.height = height
        self.bytes = bytes
    }

    /// Sets a pixel; values below 0 and above 255 are cut off.
    mutating func set(_ column: Int, _ row: Int, red: Float, green: Float, blue: Float) {
        let place = (row * width + column) * 3
        bytes[place] = Self.byte(red)
        bytes[place + 1] = Self.byte(green)
        bytes[place + 2] = Self.byte(blue)
    }

    static func byte(_ value: Float) -> UInt8 {
        UInt8(max(0, min(255, value + 0.5)))
    }

    /// The colour at a place between the pixels' middles; u goes right and v up, both 0 to 1.
    func colour(u: Float, v: Float) -> (red: Float, green: Float, blue: Float) {
        let x = max(0, min(Float(width) - 1.001, u * Float(width) - 0.5))
        let y = max(0, min(Float(height) - 1.001, (1 - v) * Float(height) - 0.5))
        let (column, row) = (Int(x), Int(y))
        let (right, down) = (x - Float(column), y - Float(row))
        let upper = (row * width + column) * 3
        let lower = upper + width * 3
        return bytes.withUnsafeBufferPointer { bytes in
            func part(_ number: Int) -> Float {
                let above =
                    Float(bytes[upper + number]) * (1 - right) + Float(bytes[upper + 3 + number]) * right
                let below =
                    Float(bytes[lower + number]) * (1 - right) + Float(bytes[lower + 3 + number]) * right
                return above * (1 - down) + below * down
            }
            return (part(0), part(1), part(2))
        }
    }

    /// Gives each pixel next to known ones their mean.
    mutating func spreadOnce(_ known: inout [Bool]) {
        let before = known
        for row in 1..<(height - 1) {
            for column in 1..<(width - 1) where !before[row * width + column] {
                let pixel = row * width + column
                let neighbours = [pixel - 1, pixel + 1, pixel - width, pixel + width].filter { before[$0] }
                guard !neighbours.isEmpty else { continue }
                known[pixel] = true
                for part in 0..<3 {
                    let sum = neighbours.reduce(0) { $0 + Int(bytes[$1 * 3 + part]) }
                    bytes[pixel * 3 + part] = UInt8(sum / neighbours.count)
                }
            }
        }
    }

    /// The mean of all pixels of which a part lies in each cell of a grid.
    func shrunk(width columns: Int, height rows: Int) -> Picture {
        var small = Picture(width: columns, height: rows)
        for row in 0..<rows {
            let lines = (row * height / rows)..<max(row * height / rows + 1, (row + 1) * height / rows)
            for column in 0..<columns {
                let places =
                    (column * width / columns)..<max(column * width / columns + 1, (column + 1) * width / columns)
                for part in 0..<3 {
                    var sum = 0
                    for y in lines {
                        for x in places { sum += Int(bytes[(y * width + x) * 3 + part]) }
                    }
                    small.bytes[(row * columns + column) * 3 + part] = UInt8(sum / (lines.count * places.count))
                }
            }
        }
        return small
    }
}
