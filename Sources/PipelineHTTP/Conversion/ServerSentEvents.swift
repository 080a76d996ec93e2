/// One event of a stream of server-sent events.
package struct ServerSentEvent: Sendable, Equatable {
    /// `message` when the stream gives none.
    package var name: String
    /// Its lines, joined by line feeds; UTF-8.
    package var data: [UInt8]

    package init(name: String, data: [UInt8]) {
        self.name = name
        self.data = data
    }
}

/// Reads a stream of server-sent events piece by piece, as WHATWG HTML, section 9.2.6, has it.
///
/// It holds one event at a time, and of events that nobody wants nothing, as far as their name comes before their data.
/// Lines and events have a bound, so that a stream of any length takes no more memory.
package struct ServerSentEvents: Sendable {
    /// The id that goes into `Last-Event-ID` when the stream is opened again; empty for none.
    package private(set) var lastID: String
    /// The time to wait before the stream is opened again, as it says itself.
    package private(set) var retry: Duration?
    /// The name of the last event if it is one that nobody wants; nil if it was given out, or none has come.
    package private(set) var passedOver: String?
    /// True once a line or an event was longer than the bound; nothing is read from then on.
    package private(set) var isTooLarge = false

    private let maximumBytes: Int
    private let isWanted: @Sendable (String) -> Bool

    private var line = Line()
    private var eventBytes = 0
    private var name: [UInt8] = []
    private var id: [UInt8]?
    private var data: [UInt8] = []
    private var hasData = false
    private var mayBeginWithLineFeed = false
    /// The number of bytes of a byte order mark that have come; nil once it no longer may.
    private var mark: Int? = 0

    /// Names and ids that are longer count as none: no header would carry them.
    private static let longestValue = 4096
    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// What has come of the current line.
    private struct Line: Sendable {
        enum Phase { case field, valueStart, value, comment }

        var phase = Phase.field
        /// The name of the field; no more of it than tells the four that count.
        var field: [UInt8] = []
        /// The value of `event`, `id` or `retry`.
        var value: [UInt8] = []
        var isEmpty = true
        var bytes = 0

        mutating func begin() {
            phase = .field
            field.removeAll(keepingCapacity: true)
            value.removeAll(keepingCapacity: true)
            (isEmpty, bytes) = (true, 0)
        }
    }

    /// - Parameters:
    ///   - lastID: the last id of the stream before it broke.
    ///   - maximumBytes: the most that a line or an event may have.
    ///   - isWanted: tells the events that are given out, by name.
    package init(
        lastID: String = "", maximumBytes: Int = 64 << 20,
        isWanted: @escaping @Sendable (String) -> Bool = { _ in true }
    ) {
        self.lastID = lastID
        self.maximumBytes = maximumBytes
        self.isWanted = isWanted
    }

    /// The number of bytes that are held.
    package var heldBytes: Int { data.count + line.value.count + line.field.count + name.count }

    /// Takes the next piece of the stream and gives out each event that it ends.
    ///
    /// - Parameter onEvent: returns false to read no further.
    /// - Returns: false after that, and once a bound was passed.
    package mutating func read(
        _ bytes: UnsafeRawBufferPointer, onEvent: (ServerSentEvent) -> Bool
    ) -> Bool {
        var position = 0
        while position < bytes.count {
            if isTooLarge { return false }
            if mark != nil, passMark(bytes[position]) {
                position += 1
                continue
            }
            let byte = bytes[position]
            if mayBeginWithLineFeed {
                mayBeginWithLineFeed = false
                if byte == 0x0A {
                    position += 1
                    continue
                }
            }
            if byte == 0x0A || byte == 0x0D {
                position += 1
                mayBeginWithLineFeed = byte == 0x0D
                if let event = endLine(), !onEvent(event) { return false }
                continue
            }
            var end = position + 1
            while end < bytes.count, bytes[end] != 0x0A, bytes[end] != 0x0D { end += 1 }
            take(UnsafeRawBufferPointer(rebasing: bytes[position..<end]))
            position = end
        }
        return !isTooLarge
    }

    /// Returns whether the byte belongs to the mark that a stream may begin with.
    private mutating func passMark(_ byte: UInt8) -> Bool {
        guard let count = mark, byte == Self.byteOrderMark[count] else {
            mark = nil
            return false
        }
        mark = count == 2 ? nil : count + 1
        return true
    }

    /// Takes a part of a line, without its end.
    private mutating func take(_ bytes: UnsafeRawBufferPointer) {
        line.isEmpty = false
        line.bytes += bytes.count
        var rest = bytes[...]
        while let byte = rest.first {
            switch line.phase {
            case .field:
                if byte == UInt8(ascii: ":") {
                    line.phase = line.field.isEmpty ? .comment : .valueStart
                } else if line.field.count < 6 {
                    line.field.append(byte)
                }
                rest = rest.dropFirst()
            case .valueStart:
                if byte == UInt8(ascii: " ") { rest = rest.dropFirst() }
                line.phase = .value
            case .comment: rest = rest[rest.endIndex...]
            case .value:
                append(UnsafeRawBufferPointer(rebasing: rest))
                rest = rest[rest.endIndex...]
            }
        }
        if line.phase != .comment { eventBytes += bytes.count }
        isTooLarge = max(line.bytes, eventBytes) > maximumBytes
    }

    private mutating func append(_ bytes: UnsafeRawBufferPointer) {
        if line.field.elementsEqual("data".utf8) {
            if keepsData { data.append(contentsOf: bytes) }
        } else if line.value.count <= Self.longestValue {
            line.value.append(contentsOf: bytes.prefix(Self.longestValue + 1 - line.value.count))
        }
    }

    /// True unless the event is known to be of no interest.
    private var keepsData: Bool { name.isEmpty || isWanted(String(decoding: name, as: UTF8.self)) }

    /// Ends a line; an empty one ends the event.
    private mutating func endLine() -> ServerSentEvent? {
        defer { line.begin() }
        if line.isEmpty { return endEvent() }
        guard line.phase != .comment else { return nil }
        let isShort = line.value.count <= Self.longestValue
        if line.field.elementsEqual("data".utf8) {
            hasData = true
            if keepsData { data.append(0x0A) }
        } else if line.field.elementsEqual("event".utf8) {
            name = isShort ? line.value : [0]
        } else if line.field.elementsEqual("id".utf8) {
            if isShort, !line.value.contains(0) { id = line.value }
        } else if line.field.elementsEqual("retry".utf8) {
            let digits = String(decoding: line.value, as: UTF8.self)
            let isNumber = !line.value.isEmpty && line.value.allSatisfy { (0x30...0x39).contains($0) }
            if isNumber, let milliseconds = Int(digits) {
                retry = .milliseconds(milliseconds)
            }
        }
        return nil
    }

    private mutating func endEvent() -> ServerSentEvent? {
        defer {
            name = []
            data = []
            (hasData, eventBytes) = (false, 0)
        }
        if let id { lastID = String(decoding: id, as: UTF8.self) }
        guard hasData else { return nil }
        let name = name.isEmpty ? "message" : String(decoding: name, as: UTF8.self)
        passedOver = isWanted(name) ? nil : name
        if passedOver != nil { return nil }
        return ServerSentEvent(name: name, data: Array(data.dropLast()))
    }
}
