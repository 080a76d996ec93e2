/// Percent-encoding of RFC 3986.
package enum PercentEncoding {
    /// Encodes all but the unreserved characters (§2.3): right for a name or a value of a query.
    package static func component(_ text: some StringProtocol) -> String {
        encoded(text.utf8) { isUnreserved($0) }
    }

    /// Encodes as ``component(_:)`` does, and the dots of a text that is nothing else: as a segment of a path `.` and `..`
    /// would lead out of the place that the author wrote (§5.2.4).
    package static func segment(_ text: String) -> String {
        let isDots = !text.isEmpty && text.utf8.allSatisfy { $0 == UInt8(ascii: ".") }
        return isDots ? String(repeating: "%2E", count: text.utf8.count) : component(text)
    }

    /// Encodes every byte.
    package static func all(_ text: some StringProtocol) -> String { encoded(text.utf8) { _ in false } }

    /// Encodes only bytes that are not ASCII: right for a URL that is otherwise written as it goes out.
    package static func nonASCII(_ text: some StringProtocol) -> String {
        encoded(text.utf8) { $0 < 128 }
    }

    /// The text with each `%XX` as the byte it stands for (§2.1); any other `%` stays.
    package static func decoded(_ text: some StringProtocol) -> String {
        String(decoding: decode(text.utf8).bytes, as: UTF8.self)
    }

    /// A name or a value of a query or a form, decoded: each `+` is a blank (URL Standard, section 5.1), any `%` that stands
    /// alone stays.
    package static func formDecoded(_ text: some StringProtocol) -> String {
        let plain = text.utf8.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: " ") : $0 }
        return String(decoding: decode(plain).bytes, as: UTF8.self)
    }

    /// The bytes that a text stands for; nil when a percent sign stands in it without two hexadecimal digits.
    package static func bytes(of text: some StringProtocol) -> [UInt8]? {
        let (bytes, isWhole) = decode(text.utf8)
        return isWhole ? bytes : nil
    }

    /// Name and value pairs joined as in a query, or a form of type `application/x-www-form-urlencoded`.
    package static func query(_ pairs: [(name: String, value: String)]) -> String {
        pairs.map { "\(component($0.name))=\(component($0.value))" }.joined(separator: "&")
    }

    /// The names and values of a query or a form, as they stand there; a name without `=` has an empty value.
    package static func pairs(_ query: Substring) -> [(name: Substring, value: Substring)] {
        query.split(separator: "&").map { pair in
            let name = pair.prefix { $0 != "=" }
            return (name, pair.dropFirst(name.count + 1))
        }
    }

    /// The first of these pairs, decoded.
    package static func formPairs(_ query: Substring, limit: Int = .max) -> [(name: String, value: String)] {
        pairs(query).prefix(limit).map { (formDecoded($0.name), formDecoded($0.value)) }
    }

    private static func decode(_ text: some Sequence<UInt8>) -> (bytes: [UInt8], isWhole: Bool) {
        var bytes: [UInt8] = []
        var isWhole = true
        var rest = Array(text)[...]
        while let byte = rest.popFirst() {
            if byte != UInt8(ascii: "%") {
                bytes.append(byte)
            } else if rest.count >= 2, let value = Hex.bytes(rest.prefix(2)) {
                bytes += value
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
                isWhole = false
            }
        }
        return (bytes, isWhole)
    }

    private static func encoded(_ bytes: some Sequence<UInt8>, keep: (UInt8) -> Bool) -> String {
        var result: [UInt8] = []
        for byte in bytes {
            if keep(byte) {
                result.append(byte)
            } else {
                result.append(UInt8(ascii: "%"))
                result.append(Hex.digit(byte >> 4, upper: true))
                result.append(Hex.digit(byte & 15, upper: true))
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        byte.isASCIIAlphanumeric || "-._~".utf8.contains(byte)
    }
}
