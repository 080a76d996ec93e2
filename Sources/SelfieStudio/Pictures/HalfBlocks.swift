/// A picture as text for a terminal: each character is two pixels, the upper half block in the colour of the upper one
/// on the colour of the lower one.
struct HalfBlocks {
    /// The colours that a terminal knows.
    enum Colours: String, CaseIterable {
        /// 24 bits each: `COLORTERM=truecolor`.
        case all
        /// xterm's palette: a cube of six steps a side, from number 16.
        case palette
    }

    let picture: Picture
    let colours: Colours

    /// - Parameter columns: the width of the text in characters; its lines are in proportion.
    func text(columns: Int) -> String {
        let rows = max(2, columns * picture.height / picture.width / 2 * 2)
        let small = picture.shrunk(width: columns, height: rows)
        var text = ""
        for row in stride(from: 0, to: rows, by: 2) {
            for column in 0..<columns {
                text += code(38, small, column, row) + code(48, small, column, row + 1) + "▀"
            }
            text += "\u{1B}[0m\n"
        }
        return text
    }

    /// The control sequence that sets the colour of letters (38) or of what is behind them (48).
    private func code(_ kind: Int, _ picture: Picture, _ column: Int, _ row: Int) -> String {
        let place = (row * picture.width + column) * 3
        let parts = picture.bytes[place..<(place + 3)].map(Int.init)
        switch colours {
        case .all:
            return "\u{1B}[\(kind);2;\(parts[0]);\(parts[1]);\(parts[2])m"
        case .palette:
            let steps = parts.map { ($0 * 5 + 127) / 255 }
            return "\u{1B}[\(kind);5;\(16 + 36 * steps[0] + 6 * steps[1] + steps[2])m"
        }
    }
}
