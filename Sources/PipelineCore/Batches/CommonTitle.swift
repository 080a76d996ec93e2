/// The sentence of a failure without what is its item's own, by which failures of many items are alike: `…` stands for the
/// item's key and the name in it, for paths, numbers, hex of eight and more digits, and identifiers.
package enum CommonTitle {
    private static let blank = Array("…".utf8)

    /// Returns the form of a title that other items' titles share.
    package static func make(of title: String, key: String) -> String {
        let names = Self.names(in: key)
        let unnamed = replace(Array(title.utf8)) { bytes, start in end(ofOneOf: names, in: bytes, from: start) }
        let common = replace(unnamed) { bytes, start in
            end(ofQuotedPath: bytes, from: start) ?? end(ofPath: bytes, from: start) ?? end(ofHex: bytes, from: start)
                ?? end(ofIdentifier: bytes, from: start) ?? end(ofNumber: bytes, from: start)
        }
        return String(decoding: common, as: UTF8.self)
    }

    /// Puts `…` for each part that begins somewhere and ends where the rule says.
    private static func replace(_ bytes: [UInt8], _ rule: ([UInt8], Int) -> Int?) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var index = 0
        while index < bytes.count {
            if let end = rule(bytes, index) {
                result += blank
                index = end
            } else {
                result.append(bytes[index])
                index += 1
            }
        }
        return result
    }

    // MARK: Names

    /// The key and the file name in it, each also without the ending, the longest first. One letter may be a word.
    private static func names(in key: String) -> [[UInt8]] {
        let whole = Array(key.utf8)
        let name = whole.split(separator: UInt8(ascii: "/")).last.map { Array($0) } ?? []
        let names = [whole, withoutEnding(whole), name, withoutEnding(name)]
        return names.filter { $0.count > 1 }.sorted { $0.count > $1.count }
    }

    private static func withoutEnding(_ name: [UInt8]) -> [UInt8] {
        guard let dot = name.lastIndex(of: UInt8(ascii: ".")), !name[dot...].contains(UInt8(ascii: "/")) else {
            return name
        }
        return Array(name[..<dot])
    }

    private static func end(ofOneOf names: [[UInt8]], in bytes: [UInt8], from start: Int) -> Int? {
        for name in names where bytes[start...].starts(with: name) {
            let end = start + name.count
            let isPartOfWord =
                start > 0 && bytes[start].isOfWord && bytes[start - 1].isOfWord
                || end < bytes.count && bytes[end - 1].isOfWord && bytes[end].isOfWord
            if !isPartOfWord { return end }
        }
        return nil
    }

    // MARK: Paths

    /// A path in quotes may have spaces in it. The quotes stay.
    private static func end(ofQuotedPath bytes: [UInt8], from start: Int) -> Int? {
        guard start > 0, bytes[start - 1].isQuote, start == 1 || !bytes[start - 2].isOfWord else { return nil }
        var hasSlash = false
        for index in start..<bytes.count {
            if bytes[index] == UInt8(ascii: "/") { hasSlash = true }
            guard bytes[index] == bytes[start - 1], index + 1 == bytes.count || !bytes[index + 1].isOfWord else {
                continue
            }
            return hasSlash ? index : nil
        }
        return nil
    }

    /// A word with a slash in it, also an address, without the punctuation after it.
    private static func end(ofPath bytes: [UInt8], from start: Int) -> Int? {
        guard bytes[start].isOfPath, start == 0 || !bytes[start - 1].isOfPath else { return nil }
        var end = bytes[start...].firstIndex { !$0.isOfPath } ?? bytes.count
        guard bytes[start..<end].contains(UInt8(ascii: "/")) else { return nil }
        while end > start + 1, bytes[end - 1].isPunctuation { end -= 1 }
        return end
    }

    // MARK: Numbers

    /// A digest, or an identifier of parts as a UUID has them. A word has no digits.
    private static func end(ofHex bytes: [UInt8], from start: Int) -> Int? {
        guard start == 0 || !bytes[start - 1].isOfWord else { return nil }
        var (index, count) = (start, 0)
        var end = start
        while true {
            let part = index
            while index < bytes.count, bytes[index].isHexDigit { index += 1 }
            guard index > part, index == bytes.count || !bytes[index].isOfWord else { break }
            count += index - part
            end = index
            guard index < bytes.count, bytes[index] == UInt8(ascii: "-") else { break }
            index += 1
        }
        return count >= 8 && bytes[start..<end].contains(where: \.isDigit) ? end : nil
    }

    /// What services give requests and jobs, such as `req_011CSHoE`: eight and more letters and digits, two of them digits.
    private static func end(ofIdentifier bytes: [UInt8], from start: Int) -> Int? {
        guard start == 0 || !bytes[start - 1].isOfIdentifier else { return nil }
        let end = bytes[start...].firstIndex { !$0.isOfIdentifier } ?? bytes.count
        return end - start >= 8 && bytes[start..<end].count(where: \.isDigit) >= 2 ? end : nil
    }

    /// Digits, with points and commas between them.
    private static func end(ofNumber bytes: [UInt8], from start: Int) -> Int? {
        guard bytes[start].isDigit else { return nil }
        var end = start + 1
        while end < bytes.count {
            let isSeparator = bytes[end] == UInt8(ascii: ".") || bytes[end] == UInt8(ascii: ",")
            guard bytes[end].isDigit || isSeparator && end + 1 < bytes.count && bytes[end + 1].isDigit else { break }
            end += 1
        }
        return end
    }
}

extension UInt8 {
    fileprivate var isDigit: Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= self }

    fileprivate var isHexDigit: Bool { isDigit || UInt8(ascii: "a")...UInt8(ascii: "f") ~= self | 0x20 }

    /// True for what makes one word with its neighbour: letters of any script, and digits.
    fileprivate var isOfWord: Bool { isDigit || UInt8(ascii: "a")...UInt8(ascii: "z") ~= self | 0x20 || self >= 0x80 }

    fileprivate var isOfIdentifier: Bool { isOfWord || self == UInt8(ascii: "_") }

    fileprivate var isQuote: Bool {
        self == UInt8(ascii: "'") || self == UInt8(ascii: "\"") || self == UInt8(ascii: "`")
    }

    fileprivate var isOfPath: Bool {
        switch self {
        case 0...0x20, UInt8(ascii: "("), UInt8(ascii: ")"), UInt8(ascii: "["), UInt8(ascii: "]"),
            UInt8(ascii: "{"), UInt8(ascii: "}"), UInt8(ascii: "<"), UInt8(ascii: ">"):
            false
        default: !isQuote
        }
    }

    fileprivate var isPunctuation: Bool {
        switch self {
        case UInt8(ascii: "."), UInt8(ascii: ","), UInt8(ascii: ":"), UInt8(ascii: ";"), UInt8(ascii: "!"),
            UInt8(ascii: "?"):
            true
        default: false
        }
    }
}
