/// The end of a line, LF or CR LF.
enum LineEnd {
    /// The text without one at its end, which a file or a program puts there and which is not meant.
    static func removed(from text: String) -> String {
        // To Swift CR LF is one Character, which LF is no suffix of.
        text.hasSuffix("\n") || text.hasSuffix("\r\n") ? String(text.dropLast()) : text
    }
}
