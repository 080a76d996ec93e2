/// Text in Windows-1252, for which the web takes ISO-8859-1 and US-ASCII too (WHATWG Encoding Standard, section 4.2).
enum WesternText {
    /// The characters of the bytes 0x80 to 0x9F; the five that stand for none are controls, as the standard has it.
    private static let specials =
        Array(
            "\u{20AC}\u{81}\u{201A}\u{192}\u{201E}\u{2026}\u{2020}\u{2021}\u{2C6}\u{2030}\u{160}\u{2039}\u{152}\u{8D}\u{17D}\u{8F}"
                .unicodeScalars)
        + Array(
            "\u{90}\u{2018}\u{2019}\u{201C}\u{201D}\u{2022}\u{2013}\u{2014}\u{2DC}\u{2122}\u{161}\u{203A}\u{153}\u{9D}\u{17E}\u{178}"
                .unicodeScalars)
    private static let names = ["iso-8859-1", "iso8859-1", "latin1", "windows-1252", "cp1252", "us-ascii"]

    /// Returns whether a Content-Type says that its text is in it (RFC 9110, section 8.3.2).
    static func isDeclared(by contentType: String) -> Bool {
        contentType.lowercased().split(separator: ";").dropFirst().contains { parameter in
            let parts = parameter.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, parts[0].filter({ $0 != " " }) == "charset" else { return false }
            return names.contains(parts[1].filter { $0 != " " && $0 != "\"" })
        }
    }

    /// The text of the bytes, each of which is a character.
    static func decoded(_ bytes: [UInt8]) -> String {
        var text = String.UnicodeScalarView()
        for byte in bytes {
            text.append((0x80...0x9F).contains(byte) ? specials[Int(byte) - 0x80] : Unicode.Scalar(byte))
        }
        return String(text)
    }
}
