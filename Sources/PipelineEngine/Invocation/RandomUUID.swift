import PipelineCore

/// A random UUID, version 4 (RFC 9562, section 5.4).
enum RandomUUID {
    static func text(from randomness: any Randomness) -> String {
        let high = (randomness.bits() & 0xFFFF_FFFF_FFFF_0FFF) | 0x4000
        let low = (randomness.bits() & 0x3FFF_FFFF_FFFF_FFFF) | 0x8000_0000_0000_0000
        let digits = [high, low].flatMap { word in withUnsafeBytes(of: word.bigEndian) { Array($0) } }.hex.utf8
        var text: [UInt8] = []
        for (index, digit) in digits.enumerated() {
            if [8, 12, 16, 20].contains(index) { text.append(UInt8(ascii: "-")) }
            text.append(digit)
        }
        return String(decoding: text, as: UTF8.self)
    }
}
