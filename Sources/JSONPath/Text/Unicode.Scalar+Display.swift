extension Unicode.Scalar {
    /// True if a terminal must not get this raw: controls, invisible direction marks, line separators.
    var isControlOrFormat: Bool {
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate: true
        default: false
        }
    }

    /// The number of columns that a terminal gives it: 0 for combining marks and what is invisible, 2 for East Asian
    /// wide characters and emoji.
    ///
    /// The wide ranges are those of Unicode Standard Annex 11, coarsely. Of pictures those are wide that are shown as
    /// emoji without being asked to (Unicode Technical Standard 51), but for the letters of which two make a flag.
    package var displayWidth: Int {
        if value < 0x300 { return 1 }
        switch properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: return 0
        default: break
        }
        switch value {
        case 0x1F1E6...0x1F1FF: return 1
        case 0x1100...0x115F, 0x2329...0x232A, 0x2630...0x2637, 0x268A...0x268F, 0x2E80...0x303E, 0x3041...0xA4CF,
            0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6,
            0x16FE0...0x18DFF, 0x1AFF0...0x1B2FF, 0x1D300...0x1D376, 0x1F200...0x1F265, 0x20000...0x3FFFD:
            return 2
        default: return properties.isEmojiPresentation ? 2 : 1
        }
    }

    /// The character that stands for it on a terminal: itself, a control picture (U+2400…), or the replacement
    /// character.
    var displayed: Unicode.Scalar {
        guard isControlOrFormat else { return self }
        if value < 0x20 { return Unicode.Scalar(0x2400 + value)! }
        return value == 0x7F ? "\u{2421}" : "\u{FFFD}"
    }
}
