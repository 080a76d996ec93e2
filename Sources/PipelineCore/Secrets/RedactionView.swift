/// A text, or the text that it encodes, with the place of every byte in the text as it is.
struct RedactionView {
    let bytes: [UInt8]
    /// The places where bytes start in the text as it is, and where the last one ends; nil when nothing was
    /// decoded.
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

    /// Returns what percent-encoding stands for; nil when there is none.
    /// - Parameter plusIsSpace: as forms are encoded (WHATWG URL, section 5.1).
    func percentDecoded(plusIsSpace: Bool) -> RedactionView? {
        decoded { (source: UnsafeBufferPointer<UInt8>, index: Int, target: inout [UInt8]) -> Int in
            if plusIsSpace, source[index] == UInt8(ascii: "+") {
                target.append(0x20)
                return 1
            }
            guard source[index] == UInt8(ascii: "%"), index + 2 < source.count,
                let high = Hex.value(of: source[index + 1]),
                let low = Hex.value(of: source[index + 2])
            else { return 0 }
            target.append(high << 4 | low)
            return 3
        }
    }

    /// Returns what JSON's escapes stand for; nil when there are none.
    func unescaped() -> RedactionView? {
        decoded { (source: UnsafeBufferPointer<UInt8>, index: Int, target: inout [UInt8]) -> Int in
            guard source[index] == UInt8(ascii: "\\"), index + 1 < source.count else { return 0 }
            switch source[index + 1] {
            case UInt8(ascii: "u"): return Self.appendUnicode(source, index, &target)
            case UInt8(ascii: "n"): target.append(10)
            case UInt8(ascii: "r"): target.append(13)
            case UInt8(ascii: "t"): target.append(9)
            case UInt8(ascii: "b"): target.append(8)
            case UInt8(ascii: "f"): target.append(12)
            case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): target.append(source[index + 1])
            default: return 0
            }
            return 2
        }
    }

    private static func appendUnicode(
        _ source: UnsafeBufferPointer<UInt8>, _ index: Int, _ target: inout [UInt8]
    ) -> Int {
        guard let unit = unit(source, index) else { return 0 }
        if (0xD800..<0xDC00).contains(unit), let low = self.unit(source, index + 6), (0xDC00..<0xE000).contains(low),
            let scalar = Unicode.Scalar(0x10000 + (unit - 0xD800) << 10 + (low - 0xDC00))
        {
            target += UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter
            return 12
        }
        guard let scalar = Unicode.Scalar(unit), let encoded = UTF8.encode(scalar) else { return 0 }
        target += encoded
        return 6
    }

    private static func unit(_ source: UnsafeBufferPointer<UInt8>, _ index: Int) -> UInt32? {
        guard index + 5 < source.count, source[index] == UInt8(ascii: "\\"), source[index + 1] == UInt8(ascii: "u")
        else { return nil }
        var value: UInt32 = 0
        for digit in source[index + 2...index + 5] {
            guard let four = Hex.value(of: digit) else { return nil }
            value = value << 4 | UInt32(four)
        }
        return value
    }

    /// Runs a decoder over the text; nil when it changes nothing.
    ///
    /// - Parameter decode: appends what stands at an offset and gives the length of its encoding, or 0 for a byte that
    ///   stands for itself.
    private func decoded(_ decode: (UnsafeBufferPointer<UInt8>, Int, inout [UInt8]) -> Int) -> RedactionView? {
        bytes.withUnsafeBufferPointer { source in
            var target: [UInt8] = []
            var changes = false
            // The first pass only finds out whether there is anything to do: mostly there is not.
            for index in source.indices where decode(source, index, &target) > 0 {
                changes = true
                break
            }
            guard changes else { return nil }
            target.removeAll(keepingCapacity: true)
            target.reserveCapacity(source.count)
            var places: [Int] = []
            places.reserveCapacity(source.count + 1)
            var index = 0
            while index < source.count {
                let length = decode(source, index, &target)
                if length == 0 { target.append(source[index]) }
                while places.count < target.count { places.append(place(index)) }
                index += max(1, length)
            }
            places.append(place(source.count))
            return RedactionView(bytes: target, places: places)
        }
    }
}
