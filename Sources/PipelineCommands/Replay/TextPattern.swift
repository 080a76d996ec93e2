/// A recorded text as a pattern: a redacted piece, `‹…›`, stands for any text, and so do UUIDs, times, and the day and the
/// signature of AWS Signature 4, which are others in each run.
struct TextPattern: Sendable {
    /// The pieces that must follow each other, with anything between two.
    private let pieces: [[UInt8]]

    init(_ text: String) {
        var (pieces, piece): ([[UInt8]], [UInt8]) = ([], [])
        let bytes = Array(text.utf8)
        var position = 0
        while position < bytes.count {
            if let length = Self.changing(bytes[position...]) {
                pieces.append(piece)
                piece = []
                position += length
            } else {
                piece.append(bytes[position])
                position += 1
            }
        }
        self.pieces = pieces + [piece]
    }

    /// Returns whether a text is of the pattern.
    func matches(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        guard let first = pieces.first, let last = pieces.last, pieces.count > 1 else { return pieces.first == bytes }
        guard bytes.count >= first.count + last.count, bytes.starts(with: first),
            bytes.suffix(last.count).elementsEqual(last)
        else { return false }
        var rest = bytes[first.count..<(bytes.count - last.count)]
        for piece in pieces.dropFirst().dropLast() where !piece.isEmpty {
            guard let place = Self.place(of: piece, in: rest) else { return false }
            rest = rest[(place + piece.count)...]
        }
        return true
    }

    private static func place(of piece: [UInt8], in bytes: ArraySlice<UInt8>) -> Int? {
        guard bytes.count >= piece.count else { return nil }
        return (bytes.startIndex...(bytes.endIndex - piece.count)).first { bytes[$0...].starts(with: piece) }
    }

    /// The length of a text that stands for any, if one begins here.
    private static func changing(_ bytes: ArraySlice<UInt8>) -> Int? {
        if bytes.starts(with: "‹".utf8) {
            let close = Array("›".utf8)
            return place(of: close, in: bytes).map { $0 + close.count - bytes.startIndex }
        }
        if fits(bytes, "hhhhhhhh-hhhh-hhhh-hhhh-hhhhhhhhhhhh") { return 36 }
        if fits(bytes, "ddddddddTddddddZ") { return 16 }
        if fits(bytes, "dddddddd/"), place(of: Array("/aws4_request".utf8), in: bytes.prefix(80)) != nil { return 8 }
        if fits(bytes, signature) { return signature.utf8CodeUnitCount }
        guard fits(bytes, "dddd-dd-ddTdd:dd:dd") else { return nil }
        let rest = bytes.dropFirst(19)
        let fraction = rest.prefix { $0 == UInt8(ascii: ".") || (0x30...0x39).contains($0) }.count
        return 19 + fraction + (rest.dropFirst(fraction).first == UInt8(ascii: "Z") ? 1 : 0)
    }

    private static let signature: StaticString =
        "Signature=hhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhh"

    /// Returns whether the text begins as a form says, in which `d` is a digit and `h` one in base 16.
    private static func fits(_ bytes: ArraySlice<UInt8>, _ form: StaticString) -> Bool {
        guard bytes.count >= form.utf8CodeUnitCount else { return false }
        return form.withUTF8Buffer { form in
            zip(form, bytes).allSatisfy { wanted, byte in
                switch wanted {
                case UInt8(ascii: "d"): (0x30...0x39).contains(byte)
                case UInt8(ascii: "h"): (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte | 0x20)
                default: wanted == byte
                }
            }
        }
    }
}
