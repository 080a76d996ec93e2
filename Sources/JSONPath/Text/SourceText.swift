/// The text of a file with its name, so that a mistake can be shown where it stands.
public struct SourceText: Sendable {
    /// The file's name as messages show it.
    public let name: String
    /// The UTF-8 bytes; offsets of ``SourceRange`` count in them.
    public let bytes: [UInt8]
    /// The places where lines begin; LF, CR LF and CR end a line.
    private let lineStarts: [Int]

    /// A text from a file's bytes, which need not be well-formed UTF-8; places are still found.
    public init(name: String, bytes: [UInt8]) {
        self.name = name
        self.bytes = bytes
        lineStarts = Self.lineStarts(of: bytes)
    }

    /// A text that is at hand as a string.
    public init(name: String, text: String) {
        self.init(name: name, bytes: Array(text.utf8))
    }

    /// The position of a byte; offsets beyond the text are taken as its end.
    public func position(at offset: Int) -> SourcePosition {
        let offset = min(max(offset, 0), bytes.count)
        let line = lineNumber(at: offset)
        let end = min(offset, content(of: line).upperBound)
        let column = String(decoding: bytes[content(of: line).lowerBound..<end], as: UTF8.self).unicodeScalars.count
        return SourcePosition(line: line, column: column + 1)
    }

    /// A line without its end, counted from 1; empty when there is no such line. A byte-order mark is not part of it.
    public func line(at number: Int) -> String {
        guard lineStarts.indices.contains(number - 1) else { return "" }
        return String(decoding: bytes[content(of: number)], as: UTF8.self)
    }

    /// The 1-based number of the line in which a byte stands.
    func lineNumber(at offset: Int) -> Int {
        var low = 0
        var high = lineStarts.count
        while high - low > 1 {
            let middle = (low + high) / 2
            if lineStarts[middle] <= offset { low = middle } else { high = middle }
        }
        return low + 1
    }

    /// The bytes of a line without its end and without a byte-order mark.
    func content(of number: Int) -> Range<Int> {
        var start = lineStarts[number - 1]
        var end = number < lineStarts.count ? lineStarts[number] : bytes.count
        if end > start, number < lineStarts.count, bytes[end - 1] == 0x0A { end -= 1 }
        if end > start, number < lineStarts.count, bytes[end - 1] == 0x0D { end -= 1 }
        if number == 1, bytes.starts(with: [0xEF, 0xBB, 0xBF]) { start = min(3, end) }
        return start..<max(start, end)
    }

    private static func lineStarts(of bytes: [UInt8]) -> [Int] {
        var starts = [0]
        bytes.withUnsafeBufferPointer { bytes in
            for offset in 0..<bytes.count where bytes[offset] <= 0x0D {
                let isLineFeed = bytes[offset] == 0x0A
                let isLoneReturn =
                    bytes[offset] == 0x0D && (offset + 1 == bytes.count || bytes[offset + 1] != 0x0A)
                if isLineFeed || isLoneReturn { starts.append(offset + 1) }
            }
        }
        return starts
    }
}
