/// A file name made of something that a server said: it can't leave its folder or hide in it.
enum SafeFileName {
    /// The longest name in bytes; most file systems end at 255, and `.NUMBER-BATCH.part` must fit after it.
    static let longest = 230

    /// The last component of a path, without control characters, leading dots and surrounding spaces; nil when nothing
    /// is left. `\` separates components too, as names come from any system.
    static func make(_ text: String) -> String? {
        if isPlain(text) { return text }
        // By scalars: a mark or a joiner behind a separator makes one Character of both, which is no separator.
        let visible = text.unicodeScalars.filter { isHarmless($0) }
        let component = visible.split(whereSeparator: { $0 == "/" || $0 == "\\" }).last ?? [][...]
        let name = component.drop { $0 == "." || $0.properties.isWhitespace || joinsSlash($0) }
        let trimmed = name.reversed().drop(while: \.properties.isWhitespace).reversed()
        return trimmed.isEmpty ? nil : shortened(String(String.UnicodeScalarView(trimmed)))
    }

    /// Returns whether there is nothing to change, as with most: letters, digits and signs of ASCII, no space, no dot
    /// before them.
    private static func isPlain(_ text: String) -> Bool {
        let bytes = text.utf8
        guard let first = bytes.first, first != UInt8(ascii: "."), bytes.count <= longest else { return false }
        return bytes.allSatisfy { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "\\") }
    }

    /// Returns whether it would stand on the slash before the name, and make one character with it.
    private static func joinsSlash(_ scalar: Unicode.Scalar) -> Bool { "/\(scalar)".count == 1 }

    /// Control characters would reach terminals; format characters can turn `fdp.exe` into `exe.pdf` on a screen.
    private static func isHarmless(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: false
        default: true
        }
    }

    /// Keeps the extension: programs choose by it.
    private static func shortened(_ name: String) -> String {
        guard name.utf8.count > longest else { return name }
        var ending = ""
        if let dot = name.lastIndex(of: "."), name[dot...].utf8.count <= 32 { ending = String(name[dot...]) }
        var stem = name.dropLast(ending.count)
        while stem.utf8.count + ending.utf8.count > longest { stem.removeLast() }
        return stem + ending
    }
}
