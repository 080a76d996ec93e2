/// Writes messages in the wire format of Protocol Buffers (https://protobuf.dev/programming-guides/encoding/).
struct ProtobufWriter {
    private(set) var bytes: [UInt8] = []

    /// A number as a varint.
    mutating func write(_ value: UInt64, _ field: Int) {
        tag(field, wireType: 0)
        varint(value)
    }

    /// A number of eight bytes.
    mutating func write(fixed value: UInt64, _ field: Int) {
        tag(field, wireType: 1)
        for shift in stride(from: 0, to: 64, by: 8) { bytes.append(UInt8(truncatingIfNeeded: value >> UInt64(shift))) }
    }

    mutating func write(_ text: String, _ field: Int) { write(Array(text.utf8), field) }

    mutating func write(_ content: [UInt8], _ field: Int) {
        tag(field, wireType: 2)
        varint(UInt64(content.count))
        bytes += content
    }

    /// A message inside of this one.
    mutating func write(_ field: Int, _ message: (inout ProtobufWriter) -> Void) {
        var inner = ProtobufWriter()
        message(&inner)
        write(inner.bytes, field)
    }

    private mutating func tag(_ field: Int, wireType: Int) { varint(UInt64(field << 3 | wireType)) }

    private mutating func varint(_ value: UInt64) {
        var rest = value
        while rest > 0x7F {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }
}
