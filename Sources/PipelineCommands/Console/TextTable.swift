/// A table for a terminal: a header, columns aligned, no wider than the window.
struct TextTable {
    struct Column {
        let title: String
        /// Columns that a narrow window leaves out, the highest first; 0 for one that always stands.
        var dispensability = 0
        /// The least width to which it may be cut; nil for one that is shown whole.
        var least: Int?
        var isRightAligned = false
    }

    let columns: [Column]
    /// A cell for each column.
    let rows: [[StyledText]]

    /// The lines for a window of that many columns; columns without any content are left out.
    func lines(width: Int) -> [StyledText] {
        // A narrow window has no room for air.
        let gap = width < 40 ? 1 : 2
        let natural = columns.indices.map { column in
            max(columns[column].title.count, rows.map { $0[column].columns }.max() ?? 0)
        }
        var shown = columns.indices.filter { column in rows.contains { !$0[column].isEmpty } }
        func needed(_ widths: (Int) -> Int) -> Int { shown.reduce(-gap) { $0 + widths($1) + gap } }
        func least(_ column: Int) -> Int { columns[column].least.map { min($0, natural[column]) } ?? natural[column] }
        while needed(least) > width,
            let next = shown.filter({ columns[$0].dispensability > 0 })
                .max(by: { columns[$0].dispensability < columns[$1].dispensability })
        {
            shown.removeAll { $0 == next }
        }
        var widths = natural
        while needed({ widths[$0] }) > width,
            let widest = shown.filter({ widths[$0] > least($0) }).max(by: { widths[$0] < widths[$1] })
        {
            widths[widest] -= 1
        }
        let header = columns.map { StyledText($0.title, .bold) }
        return ([header] + rows).map { cells in
            let line = shown.map { column in
                let cell = cells[column]
                guard columns[column].isRightAligned, cell.columns < widths[column] else {
                    return cell.padded(to: widths[column])
                }
                return StyledText(String(repeating: " ", count: widths[column] - cell.columns)) + cell
            }
            let air = StyledText(String(repeating: " ", count: gap))
            return line.dropFirst().reduce(line.first ?? "") { $0 + air + $1 }.fitted(to: width)
        }
    }
}
