import JSONPath

/// The number of columns of a terminal that a text takes, and texts of so many.
enum TextColumns {
    static func count(_ text: String) -> Int {
        var count = 0
        var last: Unicode.Scalar?
        for scalar in text.unicodeScalars {
            count += columns(of: scalar, after: last)
            last = scalar
        }
        return count
    }

    /// The text, or as much of it as fits with an ellipsis behind.
    static func fitted(_ text: String, to most: Int) -> String {
        guard count(text) > most else { return text }
        var fitting = String.UnicodeScalarView()
        var taken = 1
        for scalar in text.unicodeScalars {
            taken += columns(of: scalar, after: fitting.last)
            if taken > most { break }
            fitting.append(scalar)
        }
        return String(fitting) + "…"
    }

    /// The text with blanks behind it, of exactly so many columns.
    static func padded(_ text: String, to wanted: Int) -> String {
        let fitting = fitted(text, to: wanted)
        return fitting + String(repeating: " ", count: max(0, wanted - count(fitting)))
    }

    /// U+FE0F makes a picture of a character that is narrow as text. Not every terminal widens it then; room that is
    /// not taken does less harm than a line that breaks.
    private static func columns(of scalar: Unicode.Scalar, after last: Unicode.Scalar?) -> Int {
        guard scalar == "\u{FE0F}", let last, last.properties.isEmoji else { return scalar.displayWidth }
        return 2 - last.displayWidth
    }
}
