/// Looks for bytes in bytes.
enum ByteSearch {
    static func contains(_ bytes: [UInt8], _ wanted: [UInt8]) -> Bool {
        guard let first = wanted.first, bytes.count >= wanted.count else { return wanted.isEmpty }
        return bytes.withUnsafeBufferPointer { bytes in
            wanted.withUnsafeBufferPointer { wanted in
                var start = 0
                while start <= bytes.count - wanted.count {
                    if bytes[start] == first {
                        var length = 1
                        while length < wanted.count, bytes[start + length] == wanted[length] { length += 1 }
                        if length == wanted.count { return true }
                    }
                    start += 1
                }
                return false
            }
        }
    }
}
