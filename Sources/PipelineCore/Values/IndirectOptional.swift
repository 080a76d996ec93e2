/// Keeps a large value that may be absent as `Indirect` keeps one that is there; an absent one takes no memory.
@propertyWrapper
package struct IndirectOptional<Value: Sendable>: Sendable {
    @usableFromInline var present: Indirect<Value>?

    @inlinable package init(wrappedValue: Value?) { present = wrappedValue.map { Indirect(wrappedValue: $0) } }

    @inlinable package var wrappedValue: Value? {
        get { present?.wrappedValue }
        set { present = newValue.map { Indirect(wrappedValue: $0) } }
    }
}
