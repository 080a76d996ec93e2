/// Writes JSON as UTF-8: digits and member order as they are, nothing escaped that need not be (RFC 8259, section 7).
struct JSONWriter {
    /// Spaces for each level; nil writes no white space at all.
    let indent: Int?

    func write(_ value: JSON, into bytes: inout [UInt8], level: Int = 0) {
        switch value {
        case .null: bytes.append(contentsOf: "null".utf8)
        case .bool(let flag): bytes.append(contentsOf: flag ? "true".utf8 : "false".utf8)
        case .number(let number): bytes.append(contentsOf: number.literal.utf8)
        case .string(let text): write(text, into: &bytes)
        case .array(let elements): write(elements, into: &bytes, level: level)
        case .object(let members): write(members, into: &bytes, level: level)
        }
    }

    private func write(_ elements: [JSON], into bytes: inout [UInt8], level: Int) {
        bytes.append(UInt8(ascii: "["))
        for (position, element) in elements.enumerated() {
            if position > 0 { bytes.append(UInt8(ascii: ",")) }
            breakLine(into: &bytes, level: level + 1)
            write(element, into: &bytes, level: level + 1)
        }
        if !elements.isEmpty { breakLine(into: &bytes, level: level) }
        bytes.append(UInt8(ascii: "]"))
    }

    private func write(_ object: JSONObject, into bytes: inout [UInt8], level: Int) {
        bytes.append(UInt8(ascii: "{"))
        for (position, member) in object.members.enumerated() {
            if position > 0 { bytes.append(UInt8(ascii: ",")) }
            breakLine(into: &bytes, level: level + 1)
            write(member.name, into: &bytes)
            bytes.append(UInt8(ascii: ":"))
            if indent != nil { bytes.append(UInt8(ascii: " ")) }
            write(member.value, into: &bytes, level: level + 1)
        }
        if !object.isEmpty { breakLine(into: &bytes, level: level) }
        bytes.append(UInt8(ascii: "}"))
    }

    private func breakLine(into bytes: inout [UInt8], level: Int) {
        guard let indent else { return }
        bytes.append(0x0A)
        bytes.append(contentsOf: repeatElement(UInt8(ascii: " "), count: indent * level))
    }

    func write(_ text: String, into bytes: inout [UInt8]) {
        var text = text
        bytes.append(UInt8(ascii: "\""))
        text.withUTF8 { escape($0, into: &bytes) }
        bytes.append(UInt8(ascii: "\""))
    }

    private func escape(_ text: UnsafeBufferPointer<UInt8>, into bytes: inout [UInt8]) {
        var start = 0
        var offset = 0
        while offset < text.count {
            if text.count - offset >= 8 {
                let marks = marks(of: text, at: offset)
                offset += marks.trailingZeroBitCount / 8
                if marks == 0 { continue }
            }
            if Self.mustBeEscaped(text[offset]) {
                bytes.append(contentsOf: text[start..<offset])
                appendEscape(of: text[offset], to: &bytes)
                start = offset + 1
            }
            offset += 1
        }
        bytes.append(contentsOf: text[start...])
    }

    /// Looks at eight bytes together: the lowest bit that is set stands at the first of them that needs an escape, a control
    /// character, a quote or a backslash ("Determine if a word has a byte less than n", Anderson, Bit Twiddling Hacks).
    @inline(__always)
    private func marks(of text: UnsafeBufferPointer<UInt8>, at offset: Int) -> UInt64 {
        let word = UInt64(
            littleEndian: UnsafeRawPointer(text.baseAddress! + offset).loadUnaligned(as: UInt64.self))
        var less = word &- 0x2020_2020_2020_2020
        less |= (word ^ 0x2222_2222_2222_2222) &- 0x0101_0101_0101_0101
        less |= (word ^ 0x5C5C_5C5C_5C5C_5C5C) &- 0x0101_0101_0101_0101
        return less & ~word & 0x8080_8080_8080_8080
    }

    @inline(__always)
    private static func mustBeEscaped(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    }

    private func appendEscape(of byte: UInt8, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\\"))
        switch byte {
        case 0x0A: bytes.append(UInt8(ascii: "n"))
        case 0x0D: bytes.append(UInt8(ascii: "r"))
        case 0x09: bytes.append(UInt8(ascii: "t"))
        case 0x08: bytes.append(UInt8(ascii: "b"))
        case 0x0C: bytes.append(UInt8(ascii: "f"))
        case ..<0x20:
            // Of a binary body that is logged most bytes come here.
            let digit = byte & 0x0F
            bytes.append(UInt8(ascii: "u"))
            bytes.append(UInt8(ascii: "0"))
            bytes.append(UInt8(ascii: "0"))
            bytes.append(UInt8(ascii: "0") + byte >> 4)
            bytes.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
        default: bytes.append(byte)
        }
    }
}
