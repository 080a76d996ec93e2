import PipelineKit

/// HTML or SVG. What stands in a literal is markup, what is put into it is text, and is escaped for content and for
/// attributes in quotes: `"<td title=\"\(name)\">\(name)</td>"`.
///
/// Only the compiler can make one from a text that is not escaped, since a `StaticString` is nothing but a literal of this
/// program. No literal may put a value into an attribute without quotes, a style, a script, or an address's scheme.
package struct Markup: Sendable, ExpressibleByStringInterpolation {
    package private(set) var bytes: [UInt8]

    package struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var bytes: [UInt8] = []

        package init(literalCapacity: Int, interpolationCount: Int) {
            bytes.reserveCapacity(literalCapacity + 24 * interpolationCount)
        }

        package mutating func appendLiteral(_ literal: StaticString) { bytes.append(literal) }
        package mutating func appendInterpolation(_ text: String) { bytes.append(escaping: text) }
        package mutating func appendInterpolation(_ text: Substring) { bytes.append(escaping: String(text)) }
        package mutating func appendInterpolation(_ number: Int) { bytes += "\(number)".utf8 }
        package mutating func appendInterpolation(_ markup: Markup) { bytes += markup.bytes }
        package mutating func appendInterpolation(_ markup: Markup?) { if let markup { bytes += markup.bytes } }
        package mutating func appendInterpolation(_ parts: [Markup]) { for part in parts { bytes += part.bytes } }

        /// A coordinate, to a tenth.
        package mutating func appendInterpolation(_ number: Double) {
            let tenths = Int((max(-1e9, min(1e9, number.isNaN ? 0 : number)) * 10).rounded())
            let sign = tenths < 0 ? "-" : ""
            bytes += "\(sign)\(abs(tenths) / 10)".utf8
            if tenths % 10 != 0 { bytes += ".\(abs(tenths) % 10)".utf8 }
        }
    }

    package init(stringLiteral literal: StaticString) {
        bytes = []
        bytes.append(literal)
    }

    package init(stringInterpolation: StringInterpolation) { bytes = stringInterpolation.bytes }

    /// The text, escaped.
    package init(text: String) {
        bytes = []
        bytes.append(escaping: text)
    }

    /// A text that the program carries, ended by a zero: as much a literal as any.
    init(asset: UnsafePointer<CChar>) { bytes = Array(String(cString: asset).utf8) }

    /// Nothing.
    package static var empty: Markup { "" }

    package static func + (left: Markup, right: Markup) -> Markup { "\(left)\(right)" }
    package static func += (left: inout Markup, right: Markup) { left.bytes += right.bytes }

    package var isEmpty: Bool { bytes.isEmpty }
    /// As it goes into a file.
    package var string: String { String(decoding: bytes, as: UTF8.self) }
}

extension [Markup] {
    package func joined(by separator: Markup) -> Markup {
        var all = Markup.empty
        for (index, part) in enumerated() {
            if index > 0 { all += separator }
            all += part
        }
        return all
    }
}

extension [UInt8] {
    fileprivate mutating func append(_ literal: StaticString) {
        literal.withUTF8Buffer { append(contentsOf: $0) }
    }

    /// Control characters and those that turn the direction of writing are made visible first.
    fileprivate mutating func append(escaping text: String) {
        for byte in SafeText.line(text).utf8 {
            switch byte {
            case UInt8(ascii: "&"): self += "&amp;".utf8
            case UInt8(ascii: "<"): self += "&lt;".utf8
            case UInt8(ascii: ">"): self += "&gt;".utf8
            case UInt8(ascii: "\""): self += "&quot;".utf8
            case UInt8(ascii: "'"): self += "&#39;".utf8
            default: append(byte)
            }
        }
    }
}
