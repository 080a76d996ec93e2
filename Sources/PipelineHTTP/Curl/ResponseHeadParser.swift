import HTTPTypes

/// Cuts libcurl's header lines into heads: any number of 1xx, the final one, trailers.
///
/// libcurl hands over every line of every answer of a transfer, one a call
/// (https://curl.se/libcurl/c/CURLOPT_HEADERFUNCTION.html): only the status lines tell them apart.
struct ResponseHeadParser {
    /// The part that a line has completed.
    enum Step: Equatable {
        case more
        case informational(Int, HTTPFields)
        case final(Int, HTTPFields)
        /// The bytes are no head; with the reason.
        case invalid(String)
    }

    private(set) var trailers: HTTPFields = [:]
    private var status = 0
    private var fields: HTTPFields = [:]
    private var bytes = 0
    private var isInHead = false
    private var isFinalSeen = false

    /// A head longer than this is refused: it would be kept in memory.
    static let maximumHeadBytes = 512 << 10

    mutating func take(_ line: UnsafeRawBufferPointer) -> Step {
        bytes += line.count
        guard bytes <= Self.maximumHeadBytes else { return .invalid("its head is too large") }
        let text = Self.trimmed(line)
        // Behind the final head there are trailers only: a server could write one that looks like a status line, and the
        // answer would begin again behind a body that has been received.
        if !isInHead, !isFinalSeen, text.starts(with: "HTTP/".utf8) { return beginHead(text) }
        if line.allSatisfy({ $0 == 13 || $0 == 10 }) { return isInHead ? endHead() : .more }
        guard let field = Self.field(text) else { return .more }
        if isInHead {
            fields.append(field)
        } else if isFinalSeen {
            trailers.append(field)
        }
        return .more
    }

    private mutating func beginHead(_ text: Slice<UnsafeRawBufferPointer>) -> Step {
        guard let space = text.firstIndex(of: UInt8(ascii: " ")) else { return .invalid("it has no status") }
        let digits = text[text.index(after: space)...].prefix(3)
        guard digits.count == 3, let code = Int(String(decoding: digits, as: UTF8.self)), code >= 100 else {
            return .invalid("it has no status")
        }
        (status, fields, bytes, isInHead) = (code, [:], text.count, true)
        return .more
    }

    private mutating func endHead() -> Step {
        isInHead = false
        bytes = 0
        if status < 200 && status != 101 { return .informational(status, fields) }
        isFinalSeen = true
        if let fault = lengthFault { return .invalid(fault) }
        return .final(status, fields)
    }

    /// The mistake in the length that a head states (RFC 9112, section 6.3): libcurl takes the last of several, and
    /// reads on to the end of the connection after one that is no number it can hold. A transfer coding counts instead.
    private var lengthFault: String? {
        guard fields[.transferEncoding] == nil else { return nil }
        let stated = fields[values: .contentLength].flatMap { value in
            value.split(separator: ",", omittingEmptySubsequences: false).map { $0.filter { $0 != " " && $0 != "\t" } }
        }
        guard let first = stated.first else { return nil }
        guard stated.allSatisfy({ $0 == first }) else { return "it states two different lengths" }
        let isNumber = !first.isEmpty && first.utf8.allSatisfy { (48...57).contains($0) }
        return isNumber && Int64(first) != nil ? nil : "its Content-Length is no number of bytes that can be"
    }

    private static func field(_ text: Slice<UnsafeRawBufferPointer>) -> HTTPField? {
        guard let colon = text.firstIndex(of: UInt8(ascii: ":")),
            let name = HTTPField.Name(String(decoding: text[..<colon], as: UTF8.self))
        else { return nil }
        return HTTPField(name: name, value: String(decoding: text[text.index(after: colon)...], as: UTF8.self))
    }

    private static func trimmed(_ line: UnsafeRawBufferPointer) -> Slice<UnsafeRawBufferPointer> {
        var text = line[...]
        while let last = text.last, last == 13 || last == 10 || last == 32 { text = text.dropLast() }
        return text
    }
}
