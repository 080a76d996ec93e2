import JSONPath

/// Reads one value a line, or ended by NUL: what `find -print0` and `ls` write. Empty lines are passed over.
package final class ValueReader: ItemReader {
    /// A value of more bytes is bad.
    private static let limit = 1 << 20

    private let source: ByteSource
    private let separator: UInt8
    private var line = 1

    /// - Parameter separator: a line feed, or NUL.
    package init(_ path: String?, separator: UInt8) throws(ItemSourceError) {
        source = try ByteSource(path)
        self.separator = separator
    }

    package var place: ItemPlace { .byte(source.offset, line: line) }
    package func willWait(_ body: @escaping () -> Void) { source.willWait = body }

    package func next() throws(ItemSourceError) -> ItemRow? {
        while let (record, isCut) = try source.record(endedBy: separator, limit: Self.limit) {
            var bytes = record
            let number = line
            line += 1
            if separator == 0x0A, bytes.last == 0x0D { bytes.removeLast() }
            if bytes.isEmpty { continue }
            if isCut { return ItemRow(line: number, content: .bad("it is longer than \(Self.limit >> 20) MiB")) }
            guard let text = String(validating: bytes, as: UTF8.self) else {
                return ItemRow(line: number, content: .bad("it is not UTF-8 text"))
            }
            return ItemRow(line: number, content: .value(text))
        }
        return nil
    }
}

/// Reads one JSON object a line (jsonlines.org): its members are inputs. A line in which a name stands twice is bad: the
/// readers of JSON differ in which of the two they take (RFC 8259, section 4).
package final class JSONLinesReader: ItemReader {
    private static let limit = 64 << 20

    private let source: ByteSource
    private var line = 1

    package init(_ path: String?, from place: ItemPlace? = nil) throws(ItemSourceError) {
        source = try ByteSource(path)
        if case .byte(let offset, let line)? = place {
            try source.seek(to: offset)
            self.line = line
        } else {
            try source.skipMark()
        }
    }

    package var place: ItemPlace { .byte(source.offset, line: line) }
    package func willWait(_ body: @escaping () -> Void) { source.willWait = body }

    package func next() throws(ItemSourceError) -> ItemRow? {
        while let (bytes, isCut) = try source.record(endedBy: 0x0A, limit: Self.limit) {
            let number = line
            line += 1
            if bytes.allSatisfy({ $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }) { continue }
            if isCut { return ItemRow(line: number, content: .bad("it is longer than \(Self.limit >> 20) MiB")) }
            do throws(JSONSyntaxError) {
                guard case .object(let members) = try JSON.parse(bytes, duplicates: .error) else {
                    return ItemRow(line: number, content: .bad("it is no JSON object; each line is one, of inputs"))
                }
                return ItemRow(line: number, content: .members(members))
            } catch {
                return ItemRow(line: number, content: .bad("it is not JSON: \(error.message)"))
            }
        }
        return nil
    }
}
