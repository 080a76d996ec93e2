/// A text, or the text that it encodes, with the place of every byte in the text as it is.
struct RedactionView {
    let bytes: [UInt8]
    /// Where each byte starts in the text as it is, and where the last one ends; nil when nothing was decoded.
    private let places: [Int]?

    init(_ text: String) {
        bytes = Array(text.utf8)
        places = nil
    }

    private init(bytes: [UInt8], places: [Int]) {
        self.bytes = bytes
        self.places = places
    }

    /// The offset in the text as it is.
    func place(_ offset: Int) -> Int { places?[offset] ?? offset }

    /// What percent-encoding stands for; nil when there is none.
    /// - Parameter plusIsSpace: as forms are encoded (WHATWG URL, section 5.1).
    func percentDecoded(plusIsSpace: Bool) -> RedactionView? {
        guard bytes.contains(UInt8(ascii: "%")) || plusIsSpace && bytes.contains(UInt8(ascii: "+")) else { return nil }
        return decoded { index in
            if plusIsSpace, bytes[index] == UInt8(ascii: "+") { return ([0x20], 1) }
            guard bytes[index] == UInt8(ascii: "%"), index + 2 < bytes.count,
                let high = PercentEncoding.hexValue(bytes[index + 1]), let low = PercentEncoding.hexValue(bytes[index + 2])
            else { return nil }
            return ([high << 4 | low], 3)
        }
    }

    /// What JSON's escapes stand for; nil when there are none.
    func unescaped() -> RedactionView? {
        guard bytes.contains(UInt8(ascii: "\\")) else { return nil }
        return decoded { index in
            guard bytes[index] == UInt8(ascii: "\\"), index + 1 < bytes.count else { return nil }
            switch bytes[index + 1] {
            case UInt8(ascii: "n"): return ([10], 2)
            case UInt8(ascii: "r"): return ([13], 2)
            case UInt8(ascii: "t"): return ([9], 2)
            case UInt8(ascii: "b"): return ([8], 2)
            case UInt8(ascii: "f"): return ([12], 2)
            case UInt8(ascii: "u"): return unicode(at: index)
            case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return ([bytes[index + 1]], 2)
            default: return nil
            }
        }
    }

    private func unicode(at index: Int) -> (bytes: [UInt8], length: Int)? {
        guard let unit = unit(at: index) else { return nil }
        if (0xD800..<0xDC00).contains(unit), let low = self.unit(at: index + 6), (0xDC00..<0xE000).contains(low),
            let scalar = Unicode.Scalar(0x10000 + (unit - 0xD800) << 10 + (low - 0xDC00))
        {
            return (Array(String(Character(scalar)).utf8), 12)
        }
        return Unicode.Scalar(unit).map { (Array(String(Character($0)).utf8), 6) }
    }

    private func unit(at index: Int) -> UInt32? {
        guard index + 5 < bytes.count, bytes[index] == UInt8(ascii: "\\"), bytes[index + 1] == UInt8(ascii: "u") else {
            return nil
        }
        var value: UInt32 = 0
        for digit in bytes[index + 2...index + 5] {
            guard let four = PercentEncoding.hexValue(digit) else { return nil }
            value = value << 4 | UInt32(four)
        }
        return value
    }

    private func decoded(_ decode: (Int) -> (bytes: [UInt8], length: Int)?) -> RedactionView {
        var decoded: [UInt8] = []
        var places: [Int] = []
        decoded.reserveCapacity(bytes.count)
        places.reserveCapacity(bytes.count + 1)
        var index = 0
        while index < bytes.count {
            let (content, length) = decode(index) ?? ([bytes[index]], 1)
            decoded += content
            places += repeatElement(place(index), count: content.count)
            index += length
        }
        places.append(place(bytes.count))
        return RedactionView(bytes: decoded, places: places)
    }
}
