extension JSON {
    /// The value as compact JSON, without white space.
    public var text: String { String(decoding: bytes, as: UTF8.self) }

    /// The value as compact JSON in UTF-8.
    package var bytes: [UInt8] {
        var bytes: [UInt8] = []
        write(into: &bytes)
        return bytes
    }

    /// The value as JSON for people: one member or element a line.
    /// - Parameter indent: spaces for each level.
    public func prettyText(indent: Int = 2) -> String {
        var bytes: [UInt8] = []
        JSONWriter(indent: indent).write(self, into: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Appends the value as compact JSON in UTF-8.
    public func write(into bytes: inout [UInt8]) {
        JSONWriter(indent: nil).write(self, into: &bytes)
    }
}

extension JSON: CustomStringConvertible {
    public var description: String { text }
}
