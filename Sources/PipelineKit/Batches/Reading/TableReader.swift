/// Reads comma- or tab-separated values with a header line: RFC 4180, and what programs write besides.
///
/// Fields in quotes may hold separators, line breaks and doubled quotes. Lines end by LF, CRLF or CR; a byte order mark is
/// passed over; blank lines too. A row with too many or too few fields, a quote in the wrong place, or bytes that are no
/// UTF-8 is a bad row with its line; reading goes on with the next.
package final class TableReader: ItemReader {
    /// A row of more bytes is bad.
    private static let limit = 64 << 20

    private let source: ByteSource
    private let separator: UInt8
    private var line = 1
    /// The names of the columns, as they stand.
    package let header: [String]

    /// - Parameters:
    ///   - path: the file; nil for standard input.
    ///   - separator: `,` or a tab.
    ///   - place: where an earlier reading came to.
    /// - Throws: ``ItemSourceError`` for a source without a header, or one with a column that has no name or stands twice.
    package init(_ path: String?, separator: UInt8, from place: ItemPlace? = nil) throws(ItemSourceError) {
        source = try ByteSource(path)
        self.separator = separator
        try source.skipMark()
        var line = 1
        guard let row = try Self.row(of: source, separator, &line) else {
            throw ItemSourceError("\(source.name) is empty", hint: "its first line must name the inputs")
        }
        switch row {
        case .failure(let fault): throw ItemSourceError("the header of \(source.name): \(fault.message)")
        case .success(let names): header = names
        }
        if let empty = header.firstIndex(of: "") {
            throw ItemSourceError("column \(empty + 1) of \(source.name) has no name in its header line")
        }
        if let twice = Dictionary(grouping: header, by: \.self).filter({ $0.value.count > 1 }).keys.min() {
            throw ItemSourceError("the column '\(twice)' stands twice in the header of \(source.name)")
        }
        if case .byte(let offset, let next)? = place {
            try source.seek(to: offset)
            line = next
        }
        self.line = line
    }

    package var place: ItemPlace { .byte(source.offset, line: line) }
    package func willWait(_ body: @escaping () -> Void) { source.willWait = body }

    package func next() throws(ItemSourceError) -> ItemRow? {
        try Self.skipBlankLines(of: source, &line)
        let start = line
        guard let row = try Self.row(of: source, separator, &line) else { return nil }
        switch row {
        case .failure(let fault): return ItemRow(line: fault.line, content: .bad(fault.message))
        case .success(let fields) where fields.count != header.count:
            let message = "it has \(fields.count) fields, and the header \(header.count)"
            return ItemRow(line: start, content: .bad(message))
        case .success(let fields): return ItemRow(line: start, content: .fields(fields))
        }
    }

    private struct Fault: Error {
        let line: Int
        let message: String
    }

    /// The next row that is not blank; `line` is that of the next one afterwards.
    private static func row(
        of source: ByteSource, _ separator: UInt8, _ line: inout Int
    ) throws(ItemSourceError) -> Result<[String], Fault>? {
        try skipBlankLines(of: source, &line)
        guard try source.peek() != nil else { return nil }
        var parser = RowParser(separator: separator, line: line)
        defer { line = parser.line }
        return try parser.parse(source).mapError { Fault(line: $0.line, message: $0.message) }
    }

    private static func skipBlankLines(of source: ByteSource, _ line: inout Int) throws(ItemSourceError) {
        while let byte = try source.peek(), byte == 0x0A || byte == 0x0D {
            source.advance()
            if byte == 0x0A { line += 1 } else if try source.peek() != 0x0A { line += 1 }
        }
    }

    /// One row, byte by byte.
    private struct RowParser {
        let separator: UInt8
        /// The line that the next byte stands in.
        var line: Int
        private var fields: [String] = []
        private var field: [UInt8] = []
        private var size = 0
        private var fault: Fault?

        init(separator: UInt8, line: Int) {
            self.separator = separator
            self.line = line
        }

        private static let quote = UInt8(ascii: "\"")

        mutating func parse(_ source: ByteSource) throws(ItemSourceError) -> Result<[String], Fault> {
            let first = line
            while true {
                if try source.peek() == Self.quote { try quoted(source, first) } else { try plain(source, first) }
                finishField(first)
                guard let end = try source.peek() else { break }
                source.advance()
                if end == separator { continue }
                if end == 0x0D, try source.peek() == 0x0A { source.advance() }
                line += 1
                break
            }
            return fault.map { .failure($0) } ?? .success(fields)
        }

        /// Up to a separator or the end of the line, which is not taken.
        private mutating func plain(_ source: ByteSource, _ first: Int) throws(ItemSourceError) {
            while let byte = try source.peek(), byte != separator, byte != 0x0A, byte != 0x0D {
                if byte == Self.quote {
                    fail(
                        line,
                        "a quote stands inside a field that does not begin with one; double it, and quote the field")
                }
                append(byte, first)
                source.advance()
            }
        }

        private mutating func quoted(_ source: ByteSource, _ first: Int) throws(ItemSourceError) {
            let start = line
            source.advance()
            while true {
                guard let byte = try source.peek() else { return fail(start, "a quote that begins here never ends") }
                source.advance()
                guard byte == Self.quote else {
                    if byte == 0x0A { line += 1 }
                    append(byte, first)
                    continue
                }
                guard try source.peek() == Self.quote else { break }
                append(Self.quote, first)
                source.advance()
            }
            if let next = try source.peek(), next != separator, next != 0x0A, next != 0x0D {
                fail(line, "text follows a closing quote; a quote inside a quoted field is doubled")
                try plain(source, first)
            }
        }

        private mutating func append(_ byte: UInt8, _ first: Int) {
            size += 1
            guard size <= TableReader.limit else {
                return fail(first, "it is longer than \(TableReader.limit >> 20) MiB; is a quote missing before?")
            }
            if fault == nil { field.append(byte) }
        }

        private mutating func finishField(_ first: Int) {
            if fault == nil {
                if let text = String(validating: field, as: UTF8.self) {
                    fields.append(text)
                } else {
                    fail(first, "field \(fields.count + 1) is not UTF-8 text")
                }
            }
            field.removeAll(keepingCapacity: true)
        }

        /// Keeps the first.
        private mutating func fail(_ line: Int, _ message: String) {
            if fault == nil { fault = Fault(line: line, message: message) }
        }
    }
}
