import Encodings
import PipelineSQL

/// A statement as it is written, with named parameters (`:job`), and as the server takes it (`$1`).
struct PostgresStatement {
    /// With numbered parameters.
    let text: String
    /// The names of the parameters, in the order of their numbers.
    let names: [String]

    init(_ sql: String) {
        var text: [UInt8] = []
        var names: [String] = []
        let bytes = Array(sql.utf8)
        var index = 0
        /// The quote that a text or a name began with.
        var quote: UInt8?
        while index < bytes.count {
            let byte = bytes[index]
            if quote == byte {
                quote = nil
            } else if quote == nil, byte == UInt8(ascii: "'") || byte == UInt8(ascii: "\"") {
                quote = byte
            }
            let isColon = byte == UInt8(ascii: ":") && quote == nil
            // Two of them are a cast.
            if isColon, index + 1 < bytes.count, bytes[index + 1] == UInt8(ascii: ":") {
                text += [byte, byte]
                index += 2
                continue
            }
            guard isColon, index + 1 < bytes.count, Self.isNamePart(bytes[index + 1]) else {
                text.append(byte)
                index += 1
                continue
            }
            let end = bytes[(index + 1)...].firstIndex { !Self.isNamePart($0) } ?? bytes.count
            let name = String(decoding: bytes[(index + 1)..<end], as: UTF8.self)
            let place = names.firstIndex(of: name) ?? names.count
            if place == names.count { names.append(name) }
            text += Array("$\(place + 1)".utf8)
            index = end
        }
        self.text = String(decoding: text, as: UTF8.self)
        self.names = names
    }

    private static func isNamePart(_ byte: UInt8) -> Bool {
        byte.isASCIIAlphanumeric || byte == UInt8(ascii: "_")
    }
}

/// The values of one call, in the binary forms of the server's types: int8, float8, text and bytea.
struct PostgresParameters {
    private(set) var bytes: [UInt8] = []
    private(set) var types: [UInt32] = []
    /// The places where values lie in ``bytes``; nil for NULL.
    private(set) var places: [Range<Int>?] = []

    mutating func append(_ value: SQLParameter) {
        let start = bytes.count
        switch value {
        // Of no type: the server finds it from where the value stands.
        case .null: return append(type: 0, nil)
        case .integer(let number):
            withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
            append(type: 20, start..<bytes.count)
        case .real(let number):
            withUnsafeBytes(of: number.bitPattern.bigEndian) { bytes.append(contentsOf: $0) }
            append(type: 701, start..<bytes.count)
        case .text(let text):
            bytes.append(contentsOf: text.utf8)
            append(type: 25, start..<bytes.count)
        case .utf8(let text):
            bytes.append(contentsOf: text)
            // A column of json takes it as one of text does.
            append(type: 0, start..<bytes.count)
        case .blob(let blob):
            bytes.append(contentsOf: blob)
            append(type: 17, start..<bytes.count)
        }
    }

    private mutating func append(type: UInt32, _ place: Range<Int>?) {
        types.append(type)
        places.append(place)
    }
}
