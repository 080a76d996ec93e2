/// Keeps a large value behind one reference, copied only when it is changed while somebody else has it too.
///
/// A stage's configuration is some kilobytes of optional parts. Each asynchronous function that holds one by value has
/// room for it, and for each copy, in its frame, and counts the references of all its members. Behind a reference it
/// is one word.
@propertyWrapper
package struct Indirect<Value: Sendable>: Sendable {
    @usableFromInline final class Storage: Sendable {
        @usableFromInline let value: Value

        @inlinable init(_ value: Value) { self.value = value }
    }

    @usableFromInline var storage: Storage

    @inlinable package init(wrappedValue: Value) { storage = Storage(wrappedValue) }

    /// Read where it lies: who looks at one member copies that member alone.
    @inlinable package var wrappedValue: Value {
        _read { yield storage.value }
        set { storage = Storage(newValue) }
    }
}
