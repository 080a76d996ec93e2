import JSONPath

/// A piece of a captured value that is kept sealed, as it stands in the text: `‹secret:NAME#HEX›`; without the digits what
/// stood there was not kept. It is read by scalars: with a mark that follows it in a service's text, the last one makes one Character.
struct SealedPiece {
    /// The source of the piece: the first of the sealed bytes.
    enum Kind: UInt8 {
        case text = 0x74
        case number = 0x6E
    }

    enum Part {
        case plain(Substring)
        case sealed(SealedPiece)
    }

    private static let opening = "‹secret:"
    private static let closing: Unicode.Scalar = "›"

    let name: String
    let sealed: [UInt8]

    /// True if nothing can open it, since there was no key to seal it with.
    var isLost: Bool { sealed.isEmpty }

    var text: String {
        let digits = sealed.flatMap { Hex.digits(of: $0, upper: false) }
        return "\(Self.opening)\(name)#\(String(decoding: digits, as: UTF8.self))\(Self.closing)"
    }

    /// The piece as a person sees it.
    var shown: String { "\(Self.opening)\(name)\(Self.closing)" }

    init(name: String, sealed: [UInt8]) {
        self.name = name
        self.sealed = sealed
    }

    /// Reads what stands between the marks; nil when it is no piece.
    private init?(_ inner: Substring) {
        guard let mark = inner.utf8.lastIndex(of: UInt8(ascii: "#")) else { return nil }
        guard let bytes = Hex.bytes(inner.utf8[inner.utf8.index(after: mark)...]) else { return nil }
        name = String(inner[..<mark])
        sealed = bytes
    }

    /// The text taken apart, in order.
    static func parts(of text: String) -> [Part] {
        var parts: [Part] = []
        var rest = Substring(text)
        while let start = rest.unicodeScalars.firstRange(of: opening.unicodeScalars) {
            let inner = rest[start.upperBound...]
            guard let end = inner.unicodeScalars.firstIndex(of: closing), let piece = SealedPiece(inner[..<end]) else {
                parts.append(.plain(rest[..<start.upperBound]))
                rest = inner
                continue
            }
            parts.append(.plain(rest[..<start.lowerBound]))
            parts.append(.sealed(piece))
            rest = inner[inner.unicodeScalars.index(after: end)...]
        }
        return parts + [.plain(rest)]
    }

    /// Returns whether a text may hold a piece; cheap for the texts that do not.
    static func mayStand(in text: String) -> Bool { text.utf8.contains(0xE2) && ByteSearch.contains(text, opening) }
}
