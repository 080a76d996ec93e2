package import JSONPath

/// The place of a decoded string in its file, so that a mistake inside it can point at the character.
package struct TextOrigin: Sendable, Hashable {
    private let content: SourceRange
    /// After each escape of the string: the decoded offset and the file's, which from there on run in step.
    private let steps: [Step]
    private let shift: Int

    private struct Step: Hashable {
        let decoded: Int
        let source: Int
    }

    /// A string whose characters stand in the file as they are.
    ///
    /// - Parameter content: the characters between the quotes, as offsets of UTF-8 bytes.
    package init(content: SourceRange) {
        self.content = content
        steps = []
        shift = 0
    }

    /// A string of a JSON file, its escapes taken into account.
    ///
    /// - Parameters:
    ///   - literal: the string with its quotes.
    ///   - bytes: the whole file.
    package init(literal: SourceRange, in bytes: some RandomAccessCollection<UInt8>) {
        let end = min(literal.end, bytes.count)
        let start = min(literal.start, end)
        let from = bytes.index(bytes.startIndex, offsetBy: start)
        let to = bytes.index(bytes.startIndex, offsetBy: end)
        content = SourceRange(start: min(start + 1, end), end: max(start, end - 1))
        steps = Self.steps(Array(bytes[from..<to]), at: start)
        shift = 0
    }

    /// A string of a document; without the document its escapes are not taken into account.
    package init(literal: SourceRange, in source: SourceText?) {
        if let source {
            self.init(literal: literal, in: source.bytes)
        } else {
            self.init(content: SourceRange(start: literal.start + 1, end: max(literal.start + 1, literal.end - 1)))
        }
    }

    private init(content: SourceRange, steps: [Step], shift: Int) {
        self.content = content
        self.steps = steps
        self.shift = shift
    }

    /// The origin of the part that starts at a decoded offset.
    func advanced(by offset: Int) -> TextOrigin {
        TextOrigin(content: content, steps: steps, shift: shift + offset)
    }

    /// The file's offset of a decoded one.
    func source(of offset: Int) -> Int {
        let decoded = offset + shift
        let source = step(before: decoded).map { $0.source + decoded - $0.decoded } ?? content.start + decoded
        return min(max(source, content.start), max(content.start, content.end))
    }

    func source(of range: SourceRange) -> SourceRange {
        SourceRange(start: source(of: range.start), end: source(of: range.end))
    }

    /// The last step at or before a decoded offset.
    private func step(before decoded: Int) -> Step? {
        var (low, high) = (0, steps.count)
        while low < high {
            let middle = (low + high) / 2
            if steps[middle].decoded <= decoded { low = middle + 1 } else { high = middle }
        }
        return low == 0 ? nil : steps[low - 1]
    }

    private static func steps(_ literal: [UInt8], at start: Int) -> [Step] {
        var steps: [Step] = []
        var (index, decoded) = (1, 0)
        while index < literal.count - 1 {
            guard literal[index] == UInt8(ascii: "\\") else {
                index += 1
                decoded += 1
                continue
            }
            let (length, width) = escape(literal, at: index)
            index += length
            decoded += width
            steps.append(Step(decoded: decoded, source: start + index))
        }
        return steps
    }

    /// The length of an escape and of the UTF-8 that it stands for.
    private static func escape(_ literal: [UInt8], at index: Int) -> (length: Int, width: Int) {
        guard index + 1 < literal.count, literal[index + 1] == UInt8(ascii: "u"), index + 5 < literal.count else {
            return (2, 1)
        }
        let unit = literal[index + 2...index + 5].reduce(0) { $0 * 16 + Int(Hex.value(of: $1) ?? 0) }
        if (0xD800..<0xDC00).contains(unit) { return (12, 4) }
        return (6, unit < 0x80 ? 1 : unit < 0x800 ? 2 : 3)
    }
}
