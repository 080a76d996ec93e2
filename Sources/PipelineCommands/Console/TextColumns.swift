/// The number of columns of a terminal that a text takes, and texts of so many.
enum TextColumns {
    static func count(_ text: String) -> Int {
        text.unicodeScalars.reduce(0) { $0 + columns(of: $1) }
    }

    /// The text, or as much of it as fits with an ellipsis behind.
    static func fitted(_ text: String, to most: Int) -> String {
        guard count(text) > most else { return text }
        var fitting = String.UnicodeScalarView()
        var taken = 1
        for scalar in text.unicodeScalars {
            taken += columns(of: scalar)
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

    /// Nothing for what is put over the character before it, two for what East Asian Width calls wide (UAX #11) and for
    /// pictures.
    private static func columns(of scalar: Unicode.Scalar) -> Int {
        guard scalar.value >= 0x300 else { return 1 }
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: return 0
        default: break
        }
        switch scalar.value {
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F,
            0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F, 0x1F680...0x1F6FF, 0x1F900...0x1F9FF,
            0x20000...0x3FFFD:
            return 2
        default: return 1
        }
    }
}
