/// Percent-encoding of RFC 3986.
package enum PercentEncoding {
    /// Encodes all but the unreserved characters (§2.3): right for a name or a value of a query.
    package static func component(_ text: some StringProtocol) -> String {
        encoded(text.utf8) { isUnreserved($0) }
    }

    /// Encodes only bytes that are not ASCII: right for a URL that is otherwise written as it goes out.
    static func nonASCII(_ text: some StringProtocol) -> String {
        encoded(text.utf8) { $0 < 128 }
    }

    /// The text with each `%XX` as the byte it stands for (§2.1); any other `%` stays.
    package static func decoded(_ text: some StringProtocol) -> String {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), rest.count >= 2,
                let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
            {
                bytes.append(value)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Name and value pairs joined as in a query, or a form of type `application/x-www-form-urlencoded`.
    package static func query(_ pairs: [(name: String, value: String)]) -> String {
        pairs.map { "\(component($0.name))=\(component($0.value))" }.joined(separator: "&")
    }

    private static func encoded(_ bytes: some Sequence<UInt8>, keep: (UInt8) -> Bool) -> String {
        var result: [UInt8] = []
        for byte in bytes {
            if keep(byte) {
                result.append(byte)
            } else {
                result.append(UInt8(ascii: "%"))
                result.append(digit(byte >> 4))
                result.append(digit(byte & 15))
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            true
        default: false
        }
    }
}
