package import JSONPath

/// A file that a job has written and verified.
public struct WrittenFile: Sendable, Hashable {
    /// The absolute path.
    public let path: String
    /// Its size in bytes.
    public let bytes: Int64
    /// SHA-256 in hex; nil where it was not made, since nobody asked for it.
    public let sha256: String?
    /// The step that wrote it; nil before the engine knows it, and for one that an older version kept.
    public var step: StepKey?

    /// A file that a step wrote; `sha256` in lower-case hexadecimal digits.
    public init(path: String, bytes: Int64, sha256: String?, step: StepKey? = nil) {
        self.path = path
        self.bytes = bytes
        self.sha256 = sha256
        self.step = step
    }

    /// The form of `show --json`'s `files`.
    package var json: JSON {
        [
            "path": .string(path), "bytes": .number(JSONNumber(Int(bytes))),
            "sha256": sha256.map { .string($0) } ?? .null,
        ]
    }
}
