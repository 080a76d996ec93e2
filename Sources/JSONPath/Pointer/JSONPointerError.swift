/// A text that is not a JSON Pointer.
public struct JSONPointerError: Error, Sendable, Hashable {
    /// The wrong byte, counted from the pointer's start.
    public let offset: Int
    /// The mistake in words, without the place.
    public let message: String
    /// A way to mend it.
    public let hint: String?

    /// Says what is wrong with a pointer, at an offset of UTF-8 bytes from its beginning.
    public init(offset: Int, message: String, hint: String? = nil) {
        self.offset = offset
        self.message = message
        self.hint = hint
    }

    static let slashMissing = JSONPointerError(
        offset: 0, message: "a JSON Pointer begins with “/”", hint: "write it like /data/0/id")

    static func badEscape(at offset: Int) -> JSONPointerError {
        JSONPointerError(
            offset: offset, message: "“~” must be followed by 0 or 1", hint: "write ~0 for “~” and ~1 for “/”")
    }
}
