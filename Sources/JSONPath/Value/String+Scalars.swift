extension String {
    /// Returns whether both are the same Unicode scalars.
    ///
    /// Swift's own `==` takes canonically equivalent strings for equal (`é` as one scalar or as two); JSON doesn't.
    func hasSameScalars(as other: String) -> Bool {
        utf8.count == other.utf8.count && utf8.elementsEqual(other.utf8)
    }

    /// Returns whether this comes before the other one by Unicode scalar values, which is also the order of UTF-8
    /// bytes.
    func scalarsPrecede(_ other: String) -> Bool {
        utf8.lexicographicallyPrecedes(other.utf8)
    }

    /// A hash of the UTF-8 bytes: unlike `hashValue` it costs no Unicode normalization. Seeded for each process.
    var scalarHash: Int {
        var hasher = Hasher()
        var text = self
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        return hasher.finalize()
    }
}
