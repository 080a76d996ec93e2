import CFiles

/// A short value that a file carries beside its content (xattr(7)). It goes without a word where the file system has none of
/// them, and where the content alone is copied.
package struct FileAttribute: Sendable {
    /// What the attribute is called, as `user.pipeline.part`.
    package let name: String

    package init(_ name: String) { self.name = name }

    /// Gives an open file a value.
    package func set(_ value: [UInt8], on descriptor: Int32) {
        _ = files_set_attribute(descriptor, name, value, UInt(value.count))
    }

    /// Takes the value from an open file.
    package func remove(from descriptor: Int32) { _ = files_remove_attribute(descriptor, name) }

    /// The value of what stands under a path, a link itself included; nil without one, or for one of more than 64 bytes.
    package func value(ofFileAt path: String) -> [UInt8]? {
        var value = [UInt8](repeating: 0, count: 64)
        let length = files_attribute(path, name, &value, UInt(value.count))
        return length < 0 ? nil : Array(value.prefix(length))
    }
}
