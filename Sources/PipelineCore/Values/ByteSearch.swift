/// Search in text by bytes, scalar by scalar: Swift's own takes canonically equivalent texts for equal.
package enum ByteSearch {
    /// The parts between the occurrences of a separator that is not empty; they do not overlap, the leftmost count.
    static func split(_ text: String, by separator: String) -> [String] {
        let bytes = Array(text.utf8)
        let wanted = Array(separator.utf8)
        var parts: [String] = []
        var start = 0
        for found in occurrences(of: wanted, in: bytes) {
            parts.append(String(decoding: bytes[start..<found], as: UTF8.self))
            start = found + wanted.count
        }
        parts.append(String(decoding: bytes[start...], as: UTF8.self))
        return parts
    }

    static func contains(_ text: String, _ part: String) -> Bool { contains(Array(text.utf8), Array(part.utf8)) }

    /// Returns whether bytes stand in others; none stand in all.
    package static func contains(_ bytes: [UInt8], _ part: [UInt8]) -> Bool {
        part.isEmpty || !occurrences(of: part, in: bytes).isEmpty
    }

    /// Returns how often a text that is not empty occurs in another; occurrences do not overlap, the leftmost count.
    static func count(of part: String, in text: String) -> Int {
        var count = 0
        search(Array(part.utf8), in: Array(text.utf8)) { _ in count += 1 }
        return count
    }

    /// The text with each occurrence of a part that is not empty replaced by another.
    static func replacing(_ part: String, in text: String, with new: String) -> String {
        let bytes = Array(text.utf8)
        let wanted = Array(part.utf8)
        var result: [UInt8] = []
        var start = 0
        search(wanted, in: bytes) { found in
            result += bytes[start..<found]
            result += new.utf8
            start = found + wanted.count
        }
        result += bytes[start...]
        return String(decoding: result, as: UTF8.self)
    }

    private static func occurrences(of wanted: [UInt8], in bytes: [UInt8]) -> [Int] {
        var found: [Int] = []
        search(wanted, in: bytes) { found.append($0) }
        return found
    }

    /// Knuth, Morris and Pratt's search: linear, as both texts may come from a server.
    private static func search(_ wanted: [UInt8], in bytes: [UInt8], found: (Int) -> Void) {
        let fallback = fallbacks(of: wanted)
        var matched = 0
        for (index, byte) in bytes.enumerated() {
            while matched > 0, wanted[matched] != byte { matched = fallback[matched - 1] }
            if wanted[matched] == byte { matched += 1 }
            if matched == wanted.count {
                found(index + 1 - matched)
                matched = 0
            }
        }
    }

    private static func fallbacks(of wanted: [UInt8]) -> [Int] {
        var fallbacks = [Int](repeating: 0, count: wanted.count)
        var matched = 0
        for index in wanted.indices.dropFirst() {
            while matched > 0, wanted[matched] != wanted[index] { matched = fallbacks[matched - 1] }
            if wanted[matched] == wanted[index] { matched += 1 }
            fallbacks[index] = matched
        }
        return fallbacks
    }
}
