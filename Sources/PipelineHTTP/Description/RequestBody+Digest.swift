internal import Crypto

extension RequestBody {
    /// The SHA-256 of all its bytes; nil when there is no body. A body from a file is read for it.
    public func sha256() throws(RequestFailure) -> [UInt8]? {
        isNone ? nil : try digest(SHA256.self)
    }

    func digest<Hash: HashFunction>(_ hash: Hash.Type) throws(RequestFailure) -> [UInt8] {
        var hasher = hash.init()
        try BodyReader(segments).forEach { hasher.update(bufferPointer: $0) }
        return Array(hasher.finalize())
    }
}
