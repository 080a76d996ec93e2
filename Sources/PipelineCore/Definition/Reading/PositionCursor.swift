import JSONPath

/// Finds lines and columns of offsets that come in rising order, going over the text once.
struct PositionCursor {
    private let bytes: [UInt8]
    private var offset: Int
    private var line = 1
    private var column = 1

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        // A byte-order mark is no column of the first line.
        offset = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
    }

    /// The position of an offset that is not below the one before; beyond the text it is the text's end.
    mutating func position(at target: Int) -> SourcePosition {
        let target = min(target, bytes.count)
        while offset < target { step() }
        return SourcePosition(line: line, column: column)
    }

    /// Columns count Unicode scalars; LF, CR LF and CR end a line.
    private mutating func step() {
        let byte = bytes[offset]
        let isLoneReturn = byte == 0x0D && (offset + 1 == bytes.count || bytes[offset + 1] != 0x0A)
        offset += 1
        if byte == 0x0A || isLoneReturn {
            line += 1
            column = 1
        } else if offset >= bytes.count || bytes[offset] & 0xC0 != 0x80 {
            column += 1
        }
    }
}
