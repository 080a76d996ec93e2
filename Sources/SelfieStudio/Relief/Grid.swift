/// The operations on values on a grid of points, row by row.
struct Grid: Sendable {
    var columns: Int
    var rows: Int

    /// The means of cells of `cell` by `cell` pixels of a picture.
    func averages(of width: Int, cell: Int, _ value: (Int) -> Float) -> [Float] {
        var averages: [Float] = []
        averages.reserveCapacity(columns * rows)
        for row in 0..<rows {
            for column in 0..<columns {
                var sum: Float = 0
                for y in (row * cell)..<((row + 1) * cell) {
                    for x in (column * cell)..<((column + 1) * cell) { sum += value(y * width + x) }
                }
                averages.append(sum / Float(cell * cell))
            }
        }
        return averages
    }

    /// Replaces each value by the mean of those at most `radius` steps away, across and then down.
    func blur(_ values: inout [Float], radius: Int) {
        for row in 0..<rows { blurLine(&values, from: row * columns, count: columns, step: 1, radius) }
        for column in 0..<columns { blurLine(&values, from: column, count: rows, step: columns, radius) }
    }

    private func blurLine(_ values: inout [Float], from start: Int, count: Int, step: Int, _ radius: Int) {
        var sums = [Float](repeating: 0, count: count + 1)
        for place in 0..<count { sums[place + 1] = sums[place] + values[start + place * step] }
        for place in 0..<count {
            let (low, high) = (max(0, place - radius), min(count, place + radius + 1))
            values[start + place * step] = (sums[high] - sums[low]) / Float(high - low)
        }
    }

    /// The largest connected piece of `marked`, its holes filled.
    func largestPiece(of marked: [Bool]) -> [Bool] {
        let pieces = pieces(of: marked)
        guard let largest = pieces.max(by: { $0.count < $1.count }) else { return marked }
        var outside = [Bool](repeating: true, count: marked.count)
        for point in largest { outside[point] = false }
        var filled = [Bool](repeating: true, count: marked.count)
        for piece in self.pieces(of: outside) where piece.contains(where: isOnBorder) {
            for point in piece { filled[point] = false }
        }
        return filled
    }

    private func isOnBorder(_ point: Int) -> Bool {
        let column = point % columns
        return point < columns || point >= columns * (rows - 1) || column == 0 || column == columns - 1
    }

    private func pieces(of marked: [Bool]) -> [[Int]] {
        var left = marked
        var pieces: [[Int]] = []
        for start in left.indices where left[start] {
            left[start] = false
            var piece = [start]
            var next = 0
            while next < piece.count {
                let point = piece[next]
                next += 1
                func visit(_ neighbour: Int) {
                    guard left[neighbour] else { return }
                    left[neighbour] = false
                    piece.append(neighbour)
                }
                if point % columns > 0 { visit(point - 1) }
                if point % columns < columns - 1 { visit(point + 1) }
                if point >= columns { visit(point - columns) }
                if point < columns * (rows - 1) { visit(point + columns) }
            }
            pieces.append(piece)
        }
        return pieces
    }
}
